import type {AudioStream} from './audio-stream.js'

/** The loudest sample of audio that was read, 0 to 1. */
export interface Level {
  peak: number
}

/** Amplifies audio while it is read, and measures it before that. */
export function withGain(audio: AudioStream, gain: number, level: Level): AudioStream {
  const source = audio[Symbol.asyncIterator]()
  return {
    ...audio,
    [Symbol.asyncIterator]: () => ({
      async next() {
        const {value: samples, done} = await source.next()
        if (done) return {value: undefined, done}
        for (const x of samples) level.peak = Math.max(level.peak, Math.abs(x))
        return {value: gain === 1 ? samples : samples.map((x) => Math.max(-1, Math.min(1, x * gain)))}
      },
      async return() {
        await source.return?.()
        return {value: undefined, done: true}
      },
    }),
  }
}
