import type {Segment, WordTiming} from '../model/model.js'

interface Span {
  startSec: number
  endSec: number
}

/** Maximum distance of a word from speech for it to be moved, seconds. */
const farSec = 0.5

/**
 * Limits a segment and its words to the detected speech: times before the speech are moved to its start, times after it
 * to its end. Recognisers often place the first word at the start of the window.
 * @param speech where people speak, in order
 */
export function fitToSpeech(segment: Segment, speech: readonly Span[]): Segment {
  if (speech.length === 0) return segment
  if (segment.words === undefined) return {...segment, ...fit(segment, speech)}
  const words = withLengths(
    segment.words.map((word) => ({...word, ...fit(word, speech)})),
    speech,
  )
  const [first, last] = [words[0], words.at(-1)]
  if (first === undefined || last === undefined) return {...segment, ...fit(segment, speech)}
  return {...segment, words, startSec: first.startSec, endSec: Math.max(first.startSec, last.endSec)}
}

function fit(span: Span, speech: readonly Span[]): Span {
  const {startSec, endSec} = span
  const heard = speech.filter((one) => one.startSec < endSec && one.endSec > startSec)
  const [first, last] = [heard[0], heard.at(-1)]
  if (first !== undefined && last !== undefined)
    return {startSec: Math.max(startSec, first.startSec), endSec: Math.min(endSec, last.endSec)}
  const distance = (one: Span) => Math.max(one.startSec - endSec, startSec - one.endSec)
  const nearest = speech.reduce((best, one) => (distance(one) < distance(best) ? one : best))
  if (distance(nearest) > farSec) return {startSec, endSec}
  const place = Math.max(nearest.startSec, Math.min(nearest.endSec, startSec))
  return {startSec: place, endSec: Math.max(place, Math.min(nearest.endSec, endSec))}
}

/** Extends a word without duration to the next word, or to the end of its speech region. */
function withLengths(words: readonly WordTiming[], speech: readonly Span[]): WordTiming[] {
  return words.map((word, i) => {
    if (word.endSec > word.startSec) return word
    const stretch = speech.find(({startSec, endSec}) => startSec <= word.startSec && word.startSec < endSec)
    const next = words[i + 1]?.startSec ?? Infinity
    return {...word, endSec: Math.max(word.startSec, Math.min(next, stretch?.endSec ?? word.startSec))}
  })
}
