import {createHash, timingSafeEqual} from 'node:crypto'

/** Whether an Authorization header carries a token. */
export const bearsToken = (header: string | undefined, expected: string): boolean =>
  isSameSecret(/^Bearer\s+(.+)$/i.exec(header ?? '')?.[1] ?? '', expected)

/** Compares in constant time, by digests of equal length. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}
