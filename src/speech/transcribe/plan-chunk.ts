import type {SpeechRegion} from '../../audio/index.js'

export interface ChunkPlan {
  /** End of the chunk. */
  to: number
  /** Start of the next chunk; undefined after the last one. */
  next: number | undefined
}

export interface ChunkSize {
  chunk: number
  /** Overlap with the next chunk if this one does not end in silence. */
  overlap: number
  /** Maximum length of a chunk, including a short remainder. */
  maxLength: number
}

/**
 * Plans the end of a chunk and the start of the next one, in samples. A chunk ends in the longest pause of its second
 * half, and the next one starts there. Without a pause it has its full length, and the next one overlaps it. A
 * remainder shorter than a quarter of a chunk is included.
 * @param end of the recording, if known
 * @param speech detected speech; undefined if unknown
 */
export function planChunk(
  from: number,
  {chunk, overlap, maxLength}: ChunkSize,
  end: number | undefined,
  speech: readonly SpeechRegion[] | undefined,
): ChunkPlan {
  const heardAgain = Math.max(0, Math.min(overlap, Math.floor((2 * chunk) / 5), chunk - 1))
  const full = from + chunk
  if (end !== undefined && isLast(end - from, chunk, heardAgain, maxLength)) return {to: end, next: undefined}
  const pause = speech === undefined ? undefined : longestPause(from + chunk / 2, full, speech)
  if (pause !== undefined) return {to: pause, next: pause}
  return {to: full, next: full - heardAgain}
}

/** True if the rest of the recording is too short for a chunk of its own. */
const isLast = (rest: number, chunk: number, overlap: number, maxLength: number) =>
  rest <= chunk || (rest <= maxLength && rest - (chunk - overlap) < chunk / 4)

/** Minimum length of a pause; shorter ones can be part of a word, samples at 16 kHz. */
const minPauseLength = 1600

/** Returns the middle of the longest pause between two positions. */
function longestPause(from: number, to: number, speech: readonly SpeechRegion[]): number | undefined {
  let best: {middle: number; length: number} | undefined
  let at = from
  for (const {start, end} of [...speech.filter((region) => region.end > from), {start: to, end: to}]) {
    const stop = Math.min(start, to)
    const length = stop - at
    if (length >= minPauseLength && length >= (best?.length ?? 0)) best = {middle: Math.floor((at + stop) / 2), length}
    at = Math.max(at, end)
    if (at >= to) break
  }
  return best?.middle
}
