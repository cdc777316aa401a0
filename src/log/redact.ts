const censor = '[redacted]'
const secretKey = /(token|secret|passw(or)?d|api[-_]?key|authorization|cookie|private[-_]?key)$/i
const maxDepth = 64

/** Longest first, so that a secret which begins with another goes as a whole. */
let secrets: readonly string[] = []

/** Makes a value unprintable from now on. Short values are no secrets, and would mangle ordinary text. */
export function registerSecret(value: string | undefined): void {
  if (value === undefined || value.length < 6 || secrets.includes(value)) return
  secrets = [...secrets, value].sort((a, b) => b.length - a.length)
}

/**
 * A copy of plain data without secrets: members whose name says so, and registered values wherever they stand, in
 * names too.
 */
export function redact<T>(value: T): T {
  return censored(value, 0) as T
}

function censored(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return secrets.reduce((text, secret) => text.replaceAll(secret, censor), value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > maxDepth) return censor
  if (Array.isArray(value)) return value.map((item) => censored(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      censored(key, depth),
      secretKey.test(key) && member !== null ? censor : censored(member, depth + 1),
    ]),
  )
}
