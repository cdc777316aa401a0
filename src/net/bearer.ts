import {createHash, timingSafeEqual} from 'node:crypto'

/** Whether an Authorization header carries a token: compared in constant time, by digests of equal length. */
export function bearsToken(header: string | undefined, expected: string): boolean {
  const token = /^Bearer\s+(.+)$/i.exec(header ?? '')?.[1] ?? ''
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(token), digest(expected))
}
