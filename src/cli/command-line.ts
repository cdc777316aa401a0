import type {Config} from '@oclif/core'
import {nearest, SvcError} from '../errors/index.js'

/** Rewrites `help X` to `X --help`, and `version` to `--version`. */
export function commandLine([first, ...rest]: readonly string[]): readonly string[] {
  if (first === 'help') return [...commandLine(rest), '--help']
  if (first === 'version') return ['--version', ...rest]
  return first === undefined ? [] : [first, ...rest]
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
