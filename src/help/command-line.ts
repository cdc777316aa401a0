import type {Argument, Commands, Flag} from './manifest.js'

/** The words of a command line, as a shell reads them. */
export const wordsOf = (line: string): string[] =>
  [...line.matchAll(/(?:\\.|[^\s'"\\]|'[^']*'|"(?:[^"\\]|\\.)*")+/g)].map(([word]) =>
    word.replaceAll(/\\(.)|'([^']*)'|"([^"]*)"/g, (_, char = '', single = '', double = '') => char + single + double),
  )

/** A word that the reader replaces. */
export const isPlaceholder = (word: string): boolean => /^[A-Z]+(=[A-Z]+)?$/.test(word)

/** Why the arguments of `svc` cannot be parsed, apart from their placeholders; undefined if they can. */
export function argumentFault(commands: Commands, rest: readonly string[]): string | undefined {
  if (rest[0] === '-C') return argumentFault(commands, rest.slice(2))
  if (rest.at(-1) === '--help' || rest.join() === '--version') return helpFault(commands, rest.slice(0, -1))
  const length = [3, 2, 1].find((count) => Object.hasOwn(commands, rest.slice(0, count).join(':')))
  const command = length === undefined ? undefined : commands[rest.slice(0, length).join(':')]
  if (length === undefined || command === undefined) return `svc ${rest.join(' ')} is not a command`
  const {flags, args} = command
  const given: string[] = []
  const used = new Set<string>()
  for (let at = length; at < rest.length; at += 1) {
    const word = rest[at] as string
    if (!/^--?[a-zA-Z]/.test(word)) {
      given.push(word)
      continue
    }
    const [named = '', ...assigned] = word.split('=')
    const flag = flagOf(flags, named)
    if (flag === undefined) return `${named} is not a flag`
    used.add(flag.name)
    if (flag.type === 'boolean') continue
    if (assigned.length === 0) at += 1
    const value = assigned.length > 0 ? assigned.join('=') : rest[at]
    if (value === undefined || value.startsWith('--')) return `${named} has no value`
    if (!isAccepted(value, flag)) return `${named} does not accept ${value}`
  }
  const wanted = Object.entries(args)
  const missing = wanted.slice(given.length).find(([, {required}]) => required)
  if (missing !== undefined) return `${missing[0]} is missing`
  const repeats = command.strict === false || wanted.some(([, {multiple}]) => multiple)
  if (given.length > wanted.length && !repeats) return `${given.at(-1)} is too much`
  const refused = given.find((word, i) => !isAccepted(word, wanted[i]?.[1] ?? {}))
  if (refused !== undefined) return `${refused} is not accepted`
  const needed = Object.entries(flags).find(([name, {required}]) => required && !used.has(name))
  return needed && `--${needed[0]} is missing`
}

/** `--help` is accepted after a command or a topic. */
const helpFault = (commands: Commands, words: readonly string[]) =>
  words.length === 0 || Object.keys(commands).some((id) => `${id}:`.startsWith(`${words.join(':')}:`))
    ? undefined
    : `svc ${words.join(' ')} is not a command`

function flagOf(flags: CommandFlags, word: string): Flag | undefined {
  if (!word.startsWith('--')) return Object.values(flags).find(({char}) => char === word[1])
  const name = word.slice(2)
  const negated = flags[name.replace(/^no-/, '')]
  return flags[name] ?? (negated?.allowNo ? negated : undefined)
}

type CommandFlags = Readonly<Record<string, Flag>>

const isAccepted = (value: string, {options}: Pick<Argument, 'options'>) =>
  options === undefined || isPlaceholder(value) || options.includes(value)

/** The arguments of the first `svc` in a shell line, without what a pipe or redirection adds; undefined if it runs none. */
export function argumentsOf(line: string): string[] | undefined {
  const command = /(?:^|[|;&(]\s*|\$ )((?:[A-Z_]+=\S* )*svc(?: (?:'[^']*'|"[^"]*"|[^|;&<>)])*)?)/.exec(line)?.[1]
  if (command === undefined) return undefined
  const words = wordsOf(command)
  return words.slice(words.indexOf('svc') + 1)
}
