import type {Segment, WordTiming} from '../model/model.js'
import {alignTokens} from './align-tokens.js'
import type {CrossAttention} from './network.js'
import type {TimedTokens} from './timed-segments.js'
import type {WhisperVocabulary} from './vocabulary.js'
import {attachPunctuation, medianSec, splitWords, trimAtSentenceEnds} from './words.js'

/** Seconds per encoder position. */
export const positionSec = 0.02

export interface AlignedText {
  attention: CrossAttention
  /** Row that predicts the first token of the text. */
  firstRow: number
  /** Number of positions that contain audio. */
  positions: number
  /** Probability of each token of the text, in the order of the segments. */
  probabilities: readonly number[]
  language: string
}

/** The words of each segment of a window, with times within the window. */
export function timeWords(
  vocabulary: WhisperVocabulary,
  segments: readonly TimedTokens[],
  {attention, firstRow, positions, probabilities, language}: AlignedText,
): WordTiming[][] {
  const tokens = segments.flatMap((segment) => segment.tokens)
  const begins = alignTokens(attention, firstRow, tokens.length, positions)
  let at = 0
  return segments.map((segment) => {
    const words = splitWords(vocabulary.tokenizer, segment.tokens, language).map(({word, tokens: count}) => {
      const [from, to] = [at, at + count]
      at = to
      return {
        word,
        startSec: (begins[from] as number) * positionSec,
        endSec: (begins[to] as number) * positionSec,
        probability: mean(probabilities.slice(from, to)),
      }
    })
    return fitToSegment(attachPunctuation(trimAtSentenceEnds(words)), segment)
  })
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

/** A word that exceeds its segment by more than this is cut to the timestamp of the segment, seconds. */
const toleranceSec = 0.5

/** Limits the first and the last word to their segment, with a tolerance. */
function fitToSegment(words: readonly WordTiming[], {startSec, endSec}: TimedTokens): WordTiming[] {
  const typical = medianSec(words)
  return words.map((word, i) => {
    const fitted = {...word}
    if (i === 0 && startSec < word.endSec && startSec - toleranceSec > word.startSec)
      fitted.startSec = Math.max(0, Math.min(word.endSec - typical, startSec))
    if (i === words.length - 1 && endSec > word.startSec && endSec + toleranceSec < word.endSec)
      fitted.endSec = Math.max(word.startSec + typical, endSec)
    return fitted
  })
}

/** Adds words to a segment; its times become those of its words. */
export function withWords(segment: Segment, words: readonly WordTiming[]): Segment {
  const [first, last] = [words[0], words.at(-1)]
  if (first === undefined || last === undefined) return segment
  return {...segment, words, startSec: first.startSec, endSec: Math.max(first.startSec, last.endSec)}
}
