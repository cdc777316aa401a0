import {Flags} from '@oclif/core'
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

export const subtitleShapeOf = (flags: {
  'highlight-words'?: boolean | undefined
  'max-line-width'?: number | undefined
  'max-line-count'?: number | undefined
  'max-words-per-line'?: number | undefined
}): SubtitleShape => ({
  highlightWords: flags['highlight-words'],
  lineWidth: flags['max-line-width'],
  maxLines: flags['max-line-count'],
  maxWords: flags['max-words-per-line'],
})
