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

/** Redacts a text that comes in pieces: what may be the beginning of a secret waits for the next piece. */
export function redactedStream(): {add(piece: string): string; end(): string} {
  let held = ''
  return {
    add(piece) {
      const text = redact(held + piece)
      held = beginningOfSecret(text)
      return text.slice(0, text.length - held.length)
    },
    end() {
      const rest = held
      held = ''
      return rest
    },
  }
}

/** The longest end of a text with which a secret begins. */
function beginningOfSecret(text: string): string {
  const longest = Math.min(text.length, (secrets[0]?.length ?? 1) - 1)
  for (let length = longest; length > 0; length--) {
    const end = text.slice(-length)
    if (secrets.some((secret) => secret.length > length && secret.startsWith(end))) return end
  }
  return ''
}
