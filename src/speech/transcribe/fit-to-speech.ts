import type {Segment, WordTiming} from '../model.js'

interface Span {
  startSec: number
  endSec: number
}

/** A word further from all speech than this was heard where nobody speaks, and stays there, seconds. */
const farSec = 0.5

/**
 * Keeps a segment and its words out of the silence: what begins before the speech it belongs to begins with it, and what
 * goes on after it ends with it. A recogniser often lets the first word begin with the window.
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

/** A word without a length goes on to the next one, or to the end of its stretch of speech. */
function withLengths(words: readonly WordTiming[], speech: readonly Span[]): WordTiming[] {
  return words.map((word, i) => {
    if (word.endSec > word.startSec) return word
    const stretch = speech.find(({startSec, endSec}) => startSec <= word.startSec && word.startSec < endSec)
    const next = words[i + 1]?.startSec ?? Infinity
    return {...word, endSec: Math.max(word.startSec, Math.min(next, stretch?.endSec ?? word.startSec))}
  })
}
