import {readFileSync} from 'node:fs'
import {projectFile} from '../../support/project.js'

interface Flag {
  type: 'boolean' | 'option'
  char?: string
  options?: readonly string[]
  allowNo?: boolean
  required?: boolean
}
interface Arg {
  required?: boolean
  multiple?: boolean
  options?: readonly string[]
}
interface Command {
  flags: Readonly<Record<string, Flag>>
  args: Readonly<Record<string, Arg>>
}

const {commands} = JSON.parse(readFileSync(projectFile('oclif.manifest.json'), 'utf8')) as {
  commands: Readonly<Record<string, Command>>
}

/** The first words of all commands. */
export const families: ReadonlySet<string> = new Set(Object.keys(commands).map((id) => id.split(':')[0] ?? ''))

export const everyFlag: ReadonlySet<string> = new Set([
  '--help',
  ...Object.values(commands).flatMap(({flags}) =>
    Object.entries(flags).flatMap(([name, {allowNo}]) => [`--${name}`, ...(allowNo ? [`--no-${name}`] : [])]),
  ),
])

/** Programs other than svc that messages may name. */
const programs = new Set(['kill', 'npm', 'iconv', 'openssl', 'chmod', 'python', 'git'])

/** The commands of a message, which are between backticks. */
export const commandsIn = (text: string): string[] => [...text.matchAll(/`([^`]*)`/g)].map(([, line = '']) => line)

/** The words of a command line, as a shell reads them. */
export const wordsOf = (line: string): string[] =>
  [...line.matchAll(/(?:\\.|[^\s'"\\]|'[^']*'|"(?:[^"\\]|\\.)*")+/g)].map(([word]) =>
    word.replaceAll(/\\(.)|'([^']*)'|"([^"]*)"/g, (_, char = '', single = '', double = '') => char + single + double),
  )

/** A word that the reader replaces. */
export const isPlaceholder = (word: string) => /^[A-Z]+(=[A-Z]+)?$/.test(word)

/** Why a command cannot be run as it is printed, apart from its placeholders; undefined if it can. */
export function faultOf(line: string): string | undefined {
  const words = wordsOf(line)
  while (/^[A-Z_]+=/.test(words[0] ?? '')) words.shift()
  const [program = '', ...rest] = words
  if (program !== 'svc') return programs.has(program) ? undefined : `${program} is not a known program`
  if (rest.join() === '--help') return undefined
  const length = [3, 2, 1].find((count) => Object.hasOwn(commands, rest.slice(0, count).join(':')))
  if (length === undefined) return `svc ${rest.join(' ')} is not a command`
  const {flags, args} = commands[rest.slice(0, length).join(':')] as Command
  const given: string[] = []
  const used = new Set<string>()
  for (let at = length; at < rest.length; at += 1) {
    const word = rest[at] as string
    if (!word.startsWith('--')) {
      given.push(word)
      continue
    }
    const name = word.slice(2)
    const flag = flags[name] ?? flags[name.replace(/^no-/, '')]
    if (flag === undefined) return `${word} is not a flag`
    used.add(name)
    if (flag.type === 'boolean') continue
    at += 1
    const value = rest[at]
    if (value === undefined || value.startsWith('--')) return `${word} has no value`
    if (!isAccepted(value, flag)) return `${word} does not accept ${value}`
  }
  const wanted = Object.entries(args)
  const missing = wanted.slice(given.length).find(([, {required}]) => required)
  if (missing !== undefined) return `${missing[0]} is missing`
  if (given.length > wanted.length && !wanted.some(([, {multiple}]) => multiple)) return `${given.at(-1)} is too much`
  const refused = given.find((word, i) => !isAccepted(word, wanted[i]?.[1] ?? {}))
  if (refused !== undefined) return `${refused} is not accepted`
  const needed = Object.entries(flags).find(([name, {required}]) => required && !used.has(name))
  return needed && `--${needed[0]} is missing`
}

const isAccepted = (value: string, {options}: Pick<Flag, 'options'>) =>
  options === undefined || isPlaceholder(value) || options.includes(value)
