import type {Command, Config} from '@oclif/core'
import {nearest, SvcError} from '../errors/index.js'
import {beforeSeparator} from './argv.js'

/** Rewrites `help X` to `X --help`, and `version` to `--version`. */
export function commandLine([first, ...rest]: readonly string[]): readonly string[] {
  if (first === 'help') return [...commandLine(rest), '--help']
  if (first === 'version') return ['--version', ...rest]
  return first === undefined ? [] : [first, ...rest]
}

/** Replaces `--output json` and `-o json` of a command that lists records by `--json`. */
export function withJsonOutput(config: Config, argv: readonly string[]): readonly string[] {
  const output = commandOf(config, argv)?.flags?.output
  if (output?.type !== 'option' || !output.options?.includes('json')) return argv
  const flags = beforeSeparator(argv)
  const at = flags.findIndex((word, i) =>
    /^(-o|--output)$/.test(word) ? flags[i + 1] === 'json' : /^(-o=?|--output=)json$/.test(word),
  )
  if (at === -1) return argv
  return [...argv.slice(0, at), '--json', ...argv.slice(argv[at]?.endsWith('json') ? at + 1 : at + 2)]
}

/** The command of a command line, or undefined. */
export function commandOf(config: Config, argv: readonly string[]): Command.Loadable | undefined {
  for (let words = leadingWords(argv); words.length > 0; words = words.slice(0, -1)) {
    const command = config.findCommand(words.join(':'))
    if (command !== undefined) return command
  }
  return undefined
}

const leadingWords = (argv: readonly string[]): readonly string[] => {
  const end = argv.findIndex((word) => word.startsWith('-'))
  return end === -1 ? argv : argv.slice(0, end)
}

/**
 * The error for leading words that are neither a command nor a topic, with the nearest command as suggestion; undefined
 * if they are. A topic alone prints its help.
 */
export function unknownCommand(config: Config, argv: readonly string[]): SvcError | undefined {
  const ids = config.commandIDs.map((id) => id.split(':'))
  const known = (words: readonly string[]) => ids.some((id) => words.every((word, i) => id[i] === word))
  const exact = (words: readonly string[]) =>
    ids.some((id) => id.length === words.length && words.every((w, i) => id[i] === w))
  const words: string[] = []
  for (const word of argv) {
    if (word.startsWith('-')) return undefined
    words.push(word)
    if (exact(words)) return undefined
    if (known(words)) continue
    const command = words.join(' ')
    const suggestion = nearest(command, suggestions(ids, words.length))
    return new SvcError('command_unknown', {command, suggestion})
  }
  return undefined
}

/** The commands and topics with this number of words, as a user types them. */
const suggestions = (ids: readonly string[][], depth: number) => [
  ...new Set(ids.map((id) => id.slice(0, depth).join(' '))),
]
