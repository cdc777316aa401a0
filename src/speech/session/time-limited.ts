import type {AudioStream} from '../../audio/index.js'

/**
 * Fails if a piece of audio does not arrive within a time, ms; without one, returns the stream itself.
 * @param failure creates the error from the time that passed, ms
 */
export function timeLimited(
  audio: AudioStream,
  timeoutMs: number | undefined,
  failure: (elapsedMs: number) => Error,
): AudioStream {
  if (timeoutMs === undefined) return audio
  return {
    ...audio,
    [Symbol.asyncIterator]() {
      const source = audio[Symbol.asyncIterator]()
      return {
        next: () => withinTime(source.next(), timeoutMs, failure),
        return: async () => {
          // A source that hangs would not return either.
          source.return?.().catch(() => undefined)
          return {done: true, value: undefined}
        },
      }
    },
  }
}

function withinTime<T>(value: Promise<T>, timeoutMs: number, failure: (elapsedMs: number) => Error): Promise<T> {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(failure(performance.now() - started)), timeoutMs)
    value.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
