/**
 * Returns the next position of a loop over audio, in samples. A loop that does not advance would never end.
 * @throws an internal error if it is not behind the position before
 */
export function advanced(before: number, next: number): number {
  if (next > before) return next
  throw new Error(`The transcription made no progress at sample ${before}: the next position is ${next}.`)
}
