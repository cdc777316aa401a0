import type {Segment, WordTiming} from '../model/model.js'
import {splitWord, wordKey} from './written-word.js'

/** Time that two adjacent chunks share, seconds. */
export interface Overlap {
  startSec: number
  endSec: number
}

/** A word of a segment with its timing, which is estimated from its position in the text if it is unknown. */
interface PlacedWord {
  segment: number
  written: string
  key: string
  middleSec: number
  timing: WordTiming | undefined
}

const maxWords = 16

/** Tolerance of word timings, seconds. */
const slackSec = 1

/**
 * Removes words that two consecutive chunks both contain. If the last words of the left one match the first words of
 * the right one, each keeps its half of them. The reason is that recognition is most reliable far from a cut. If no
 * words match, both are cut in the middle of the overlap.
 *
 * The alignment is the sliding match commonly used for chunked recognition: the shift with the largest share of equal
 * words, and the longest of equally good ones.
 */
export function mergeOverlap(
  left: readonly Segment[],
  right: readonly Segment[],
  {startSec, endSec}: Overlap,
): {left: Segment[]; right: Segment[]} {
  const before = placedWords(left)
  const after = placedWords(right)
  const heardTwice = {
    left: before.filter(({timing, middleSec}) => !timing || middleSec > startSec - slackSec).slice(-maxWords),
    right: after.filter(({timing, middleSec}) => !timing || middleSec < endSec + slackSec).slice(0, maxWords),
  }
  const shared = sharedWords(heardTwice.left, heardTwice.right)
  const cutSec = (startSec + endSec) / 2
  const kept =
    shared === 0
      ? {
          left: before.filter(({middleSec}) => middleSec < cutSec),
          right: after.filter(({middleSec}) => middleSec >= cutSec),
        }
      : {left: before.slice(0, before.length - Math.floor(shared / 2)), right: after.slice(Math.ceil(shared / 2))}
  return {left: onlyWords(left, before, kept.left), right: onlyWords(right, after, kept.right)}
}

/**
 * Returns the number of words at the end of the left chunk that match words at the start of the right one; 0 without a
 * match.
 */
function sharedWords(left: readonly PlacedWord[], right: readonly PlacedWord[]): number {
  let best = {shared: 0, score: 0}
  for (let shared = 1; shared <= Math.min(left.length, right.length); shared++) {
    const tail = left.slice(-shared)
    const equal = tail.filter(({key}, i) => key !== '' && key === right[i]?.key).length
    const score = equal / shared + shared / 10_000
    if ((equal > 1 || equal === shared) && equal * 2 > shared && score > best.score) best = {shared, score}
  }
  return best.shared
}

function placedWords(segments: readonly Segment[]): PlacedWord[] {
  return segments.flatMap((segment, index) =>
    segment.words === undefined
      ? guessedWords(segment, index)
      : segment.words.map((timing) => ({
          segment: index,
          written: timing.word,
          key: wordKey(splitWord(timing.word.trim())),
          middleSec: (timing.startSec + timing.endSec) / 2,
          timing,
        })),
  )
}

/** Splits a text into words; their times are proportional to their length. */
function guessedWords({text, startSec, endSec}: Segment, index: number): PlacedWord[] {
  return Array.from(text.matchAll(/\s*\S+/gu), (match) => ({
    segment: index,
    written: match[0],
    key: wordKey(splitWord(match[0].trim())),
    middleSec: startSec + ((endSec - startSec) * (match.index + match[0].length / 2)) / text.length,
    timing: undefined,
  }))
}

/** Keeps the given words; segments without words are removed. */
function onlyWords(segments: readonly Segment[], all: readonly PlacedWord[], kept: readonly PlacedWord[]): Segment[] {
  return segments.flatMap((segment, index) => {
    const own = kept.filter((word) => word.segment === index)
    if (own.length === all.filter((word) => word.segment === index).length) return [segment]
    if (own.length === 0) return []
    return [cutSegment(segment, own)]
  })
}

/** Cuts a segment to some of its words. The tokens of the result are unknown. */
function cutSegment(segment: Segment, words: readonly PlacedWord[]): Segment {
  const timings = words.map(({timing}) => timing).filter((timing) => timing !== undefined)
  const pieces = segment.pieces === undefined ? {} : {pieces: []}
  const cut = {...segment, text: words.map(({written}) => written).join(''), tokens: [], ...pieces}
  const [first, last] = [timings[0], timings.at(-1)]
  if (first === undefined || last === undefined) return cut
  return {...cut, startSec: first.startSec, endSec: last.endSec, words: timings}
}
