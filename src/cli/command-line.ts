import type {Config} from '@oclif/core'
import {nearest, SvcError} from '../errors/index.js'

/** A command line as it is run: `help X` is `X --help`, and `version` is `--version`. */
export function commandLine([first, ...rest]: readonly string[]): readonly string[] {
  if (first === 'help') return [...commandLine(rest), '--help']
  if (first === 'version') return ['--version', ...rest]
  return first === undefined ? [] : [first, ...rest]
}

/**
 * The error of a command line whose leading words name no command, with the nearest one; undefined when they name one,
 * or a topic (which prints its help).
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

/** Commands and topics of a given depth, as they are typed. */
const suggestions = (ids: readonly string[][], depth: number) => [
  ...new Set(ids.map((id) => id.slice(0, depth).join(' '))),
]
