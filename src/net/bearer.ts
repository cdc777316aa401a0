import {createHash, timingSafeEqual} from 'node:crypto'

/** The scheme is case-insensitive (RFC 9110, 11.1). */
const bearer = /^\s*bearer[ \t]+(\S.*)$/i

/** Reads the token of an `Authorization` header. */
export const bearerToken = (authorization = ''): string | undefined => bearer.exec(authorization)?.[1]?.trimEnd()

/** True if an `Authorization` header contains the expected token. */
export const hasBearerToken = (authorization: string | undefined, expected: string): boolean =>
  isSameSecret(bearerToken(authorization) ?? '', expected)

/** Compares in constant time, by digests of equal length. */
export function isSameSecret(secret: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(secret), digest(expected))
}
