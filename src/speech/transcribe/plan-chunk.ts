import type {SpeechRegion} from '../../audio/index.js'

export interface ChunkPlan {
  /** Where the chunk ends. */
  to: number
  /** Where the next one begins; undefined after the last. */
  next: number | undefined
}

export interface ChunkSize {
  chunk: number
  /** How much of it is heard again in the next one, where it does not end in silence. */
  overlap: number
  /** No chunk is longer than this, even to take in what little remains. */
  longest: number
}

/**
 * Where a chunk ends and the next one begins, all in samples. It ends in the longest pause of its second half, and the
 * next one goes on from there; without a pause it has its full length and the next one overlaps it. A remainder shorter
 * than a quarter of a chunk is taken in.
 * @param end of the recording, where that is known
 * @param speech where people speak; undefined where nobody knows
 */
export function planChunk(
  from: number,
  {chunk, overlap, longest}: ChunkSize,
  end: number | undefined,
  speech: readonly SpeechRegion[] | undefined,
): ChunkPlan {
  const heardAgain = Math.max(0, Math.min(overlap, Math.floor((2 * chunk) / 5), chunk - 1))
  const full = from + chunk
  if (end !== undefined && isLast(end - from, chunk, heardAgain, longest)) return {to: end, next: undefined}
  const pause = speech === undefined ? undefined : longestPause(from + chunk / 2, full, speech)
  if (pause !== undefined) return {to: pause, next: pause}
  return {to: full, next: full - heardAgain}
}

/** What would be left for the next chunk is too short to stand alone. */
const isLast = (rest: number, chunk: number, overlap: number, longest: number) =>
  rest <= chunk || (rest <= longest && rest - (chunk - overlap) < chunk / 4)

/** A pause shorter than this may lie inside a word, samples at 16 kHz. */
const shortestPause = 1600

/** Middle of the longest pause between two places. */
function longestPause(from: number, to: number, speech: readonly SpeechRegion[]): number | undefined {
  let best: {middle: number; length: number} | undefined
  let at = from
  for (const {start, end} of [...speech.filter((region) => region.end > from), {start: to, end: to}]) {
    const stop = Math.min(start, to)
    const length = stop - at
    if (length >= shortestPause && length >= (best?.length ?? 0)) best = {middle: Math.floor((at + stop) / 2), length}
    at = Math.max(at, end)
    if (at >= to) break
  }
  return best?.middle
}
