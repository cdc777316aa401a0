import {readFileSync} from 'node:fs'
import {argumentFault, wordsOf} from '../../../src/help/command-line.js'
import type {Commands} from '../../../src/help/manifest.js'
import {projectFile} from '../../support/project.js'

export {isPlaceholder, wordsOf} from '../../../src/help/command-line.js'

const {commands} = JSON.parse(readFileSync(projectFile('oclif.manifest.json'), 'utf8')) as {commands: Commands}

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

/** Why a command cannot be run as it is printed, apart from its placeholders; undefined if it can. */
export function faultOf(line: string): string | undefined {
  const words = wordsOf(line)
  while (/^[A-Z_]+=/.test(words[0] ?? '')) words.shift()
  const [program = '', ...rest] = words
  if (program !== 'svc') return programs.has(program) ? undefined : `${program} is not a known program`
  return argumentFault(commands, rest)
}
