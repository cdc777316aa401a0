import {characterErrorRate, wordErrorRate} from './error-rate.js'
import {parseSubtitles, timingOffsetMs} from './subtitle-parser.js'

/** How far subtitles are from those that are right: their text, and their times in ms. */
export function compareSubtitles(reference: string, hypothesis: string) {
  const [right, written] = [parseSubtitles(reference), parseSubtitles(hypothesis)]
  const text = (blocks: typeof right) => blocks.map((block) => block.text).join(' ')
  return {
    word_error_rate: wordErrorRate(text(right), text(written)).rate,
    character_error_rate: characterErrorRate(text(right), text(written)).rate,
    timing_offset_ms: timingOffsetMs(right, written),
  }
}
