import type {Segment, WordTiming} from '../model.js'

interface Span {
  startSec: number
  endSec: number
}

/**
 * Keeps the words of a segment out of the silence: one that begins before the speech it belongs to begins with it, and
 * one that goes on after it ends with it. A word that lies in silence altogether stays where it is.
 */
export function fitWordsToSpeech(segment: Segment, speech: readonly Span[]): Segment {
  if (segment.words === undefined || speech.length === 0) return segment
  const words = segment.words.map((word) => fit(word, speech))
  const [first, last] = [words[0], words.at(-1)]
  if (first === undefined || last === undefined) return segment
  return {...segment, words, startSec: first.startSec, endSec: Math.max(first.startSec, last.endSec)}
}

function fit(word: WordTiming, speech: readonly Span[]): WordTiming {
  const heard = speech.filter(({startSec, endSec}) => startSec < word.endSec && endSec > word.startSec)
  const [first, last] = [heard[0], heard.at(-1)]
  if (first === undefined || last === undefined) return word
  return {
    ...word,
    startSec: Math.max(word.startSec, first.startSec),
    endSec: Math.min(word.endSec, last.endSec),
  }
}
