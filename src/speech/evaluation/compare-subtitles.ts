import {characterErrorRate, wordErrorRate} from './error-rate.js'
import {parseSubtitles, timingOffsetMs} from './subtitle-parser.js'

/** Compares subtitles with a reference: error rates of the text, and timing errors in ms. */
export function compareSubtitles(reference: string, hypothesis: string) {
  const [right, written] = [parseSubtitles(reference), parseSubtitles(hypothesis)]
  const text = (blocks: typeof right) => blocks.map((block) => block.text).join(' ')
  return {
    word_error_rate: wordErrorRate(text(right), text(written)).rate,
    character_error_rate: characterErrorRate(text(right), text(written)).rate,
    timing_offset_ms: timingOffsetMs(right, written),
  }
}
