const censor = '[redacted]'
const secretKey = /(token|secret|passw(or)?d|api[-_]?key|authorization|cookie|private[-_]?key)$/i
const maxDepth = 64

/** Longest first, because a secret may be a prefix of another. */
let secrets: readonly string[] = []

/** Registers a value for redaction. Short values are ignored, because redacting them would mangle ordinary text. */
export function registerSecret(value: string | undefined): void {
  if (value === undefined || value.length < 6 || secrets.includes(value)) return
  secrets = [...secrets, value].sort((a, b) => b.length - a.length)
}

/** Forgets all registered values, for programs that run unrelated work one after the other. */
export function forgetSecrets(): void {
  secrets = []
}

/**
 * Copies plain data without secrets: redacts members with secret names, and registered values anywhere, including in
 * member names.
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

/** Redacts a text in pieces. A possible start of a secret is held back until the next piece. */
export function redactedStream(): {add(piece: string): string; end(): string} {
  let held = ''
  return {
    add(piece) {
      const text = redact(held + piece)
      held = beginningOfSecret(text)
      return text.slice(0, text.length - held.length)
    },
    end() {
      const last = held
      held = ''
      return last
    },
  }
}

/** Longest suffix of a text that is a prefix of a secret. */
function beginningOfSecret(text: string): string {
  const maxLength = Math.min(text.length, (secrets[0]?.length ?? 1) - 1)
  for (let length = maxLength; length > 0; length--) {
    const end = text.slice(-length)
    if (secrets.some((secret) => secret.length > length && secret.startsWith(end))) return end
  }
  return ''
}
