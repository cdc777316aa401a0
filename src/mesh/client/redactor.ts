const censor = '[redacted]'

/** Removes secrets from a text received from another program, which may echo them. */
export type Redactor = (text: string) => string

/** Minimum length of a secret, as in the logger: removing shorter ones would mangle ordinary text. */
const minSecretLength = 6

/** Finds secrets in plain and JSON-escaped form, longest first, because one may be a prefix of another. */
export function redactor(secrets: Iterable<string>): Redactor {
  const forms = [...secrets].flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
  const patterns = [...new Set(forms)]
    .filter((secret) => secret.length >= minSecretLength)
    .sort((a, b) => b.length - a.length)
  return (text) => patterns.reduce((redacted, secret) => redacted.replaceAll(secret, censor), text)
}

const maxDepth = 64

/** Copies plain data without secrets, including those in member names. */
export const redactAll = <T>(value: T, redact: Redactor): T => redacted(value, redact, 0) as T

function redacted(value: unknown, redact: Redactor, depth: number): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > maxDepth) return censor
  if (Array.isArray(value)) return value.map((item) => redacted(item, redact, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [redact(name), redacted(member, redact, depth + 1)]),
  )
}
