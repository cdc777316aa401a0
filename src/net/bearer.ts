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

/** Prefixes of WebSocket subprotocols with a token, for browsers, which cannot send an `Authorization` header. */
const tokenProtocols = ['bearer.', 'openai-insecure-api-key.']

/** True if a `Sec-WebSocket-Protocol` header offers a subprotocol with the expected token. */
export const hasProtocolToken = (header: string | undefined, expected: string): boolean =>
  (header ?? '').split(',').some((protocol) => {
    const name = protocol.trim()
    return tokenProtocols.some((prefix) => name.startsWith(prefix) && isSameSecret(name.slice(prefix.length), expected))
  })

/** Selects the subprotocol of a WebSocket connection: browsers require one of those that they offered. */
export function selectProtocol(offered: ReadonlySet<string>): string | false {
  const names = [...offered]
  return names.find((name) => tokenProtocols.every((prefix) => !name.startsWith(prefix))) ?? names[0] ?? false
}
