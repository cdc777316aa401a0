/**
 * Adds a jitter of ±10 % to an interval, so that processes that started at the same time do not send at the same time.
 * @param ms interval; at least 0
 * @param random returns numbers in [0, 1)
 * @returns ms, an integer
 */
export const jittered = (ms: number, random: () => number = Math.random): number =>
  Math.round(ms * (0.9 + random() / 5))
