import {Flags} from '@oclif/core'
import {SvcError} from '../errors/index.js'
import type {SubtitleShape} from '../speech/index.js'
import {inGroup} from './flag-groups.js'

const limit = (description: string, aliases: string[] = []) =>
  Flags.integer({description, aliases, min: 1, max: 1000, helpValue: 'N'})

/** The shape of SRT and WebVTT subtitles. The parameters are earlier names of two flags. */
export const subtitleFlags = ({width = [], count = []}: {width?: string[]; count?: string[]} = {}) =>
  inGroup('subtitle', {
    'highlight-words': Flags.boolean({
      description: 'Repeat each subtitle for each of its words, with that word underlined.',
    }),
    'max-line-width': limit('Maximum number of characters per line of a subtitle. (default: 42)', width),
    'max-line-count': limit('Maximum number of lines per subtitle. (default: 2)', count),
    'max-words-per-line': limit('Maximum number of words per subtitle. (default: no limit)'),
  })

interface SubtitleValues {
  'highlight-words'?: boolean | undefined
  'max-line-width'?: number | undefined
  'max-line-count'?: number | undefined
  'max-words-per-line'?: number | undefined
}

export const subtitleShapeOf = (flags: SubtitleValues): SubtitleShape => ({
  highlightWords: flags['highlight-words'],
  lineWidth: flags['max-line-width'],
  maxLines: flags['max-line-count'],
  maxWords: flags['max-words-per-line'],
})

const subtitleFormats = new Set<string>(['srt', 'vtt'])

/**
 * Whether word timestamps are needed, at which subtitles are split.
 * @throws usage if flags of subtitles do not apply to the format
 */
export function subtitleWords(flags: SubtitleValues, formats: readonly string[]): 'preferred' | 'required' | undefined {
  const flag = Object.keys(subtitleFlags()).find((name) => name in flags)
  if (flag === undefined) return undefined
  if (!formats.some((name) => subtitleFormats.has(name)))
    throw new SvcError('usage', {reason: `--${flag} applies to srt and vtt, but the format is ${formats}.`})
  return flags['highlight-words'] === true ? 'required' : 'preferred'
}
