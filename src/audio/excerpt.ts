import {SvcError} from '../errors/index.js'
import type {AudioStream} from './audio-stream.js'

/** A part of a recording, seconds. */
export interface Excerpt {
  offsetSec: number
  /** Up to the end of the recording if undefined. */
  durationSec: number | undefined
}

/**
 * Returns a part of a recording as a stream. Audio before it is decoded and dropped; audio after it is not read.
 * @throws excerpt_empty while it is read, if the recording ends before the part
 */
export function excerptOf(
  audio: AudioStream,
  {offsetSec, durationSec = Number.POSITIVE_INFINITY}: Excerpt,
): AudioStream {
  const source = audio[Symbol.asyncIterator]()
  const first = Math.round(offsetSec * audio.sampleRate)
  const end = first + Math.round(durationSec * audio.sampleRate)
  async function* pieces() {
    let at = 0
    for (let next = await source.next(); !next.done; next = await source.next()) {
      const start = at
      at += next.value.length
      if (at > first) yield next.value.slice(Math.max(0, first - start), Math.min(next.value.length, end - start))
      if (at >= end) return
    }
    if (at <= first)
      throw new SvcError('excerpt_empty', {
        offset: offsetSec,
        duration: Math.round((1000 * at) / audio.sampleRate) / 1000,
      })
  }
  const parts = pieces()
  return {
    ...audio,
    durationSec:
      audio.durationSec === undefined ? undefined : Math.max(0, Math.min(durationSec, audio.durationSec - offsetSec)),
    [Symbol.asyncIterator]: () => ({
      next: () => parts.next(),
      return: async () => {
        await source.return?.()
        return parts.return()
      },
    }),
  }
}
