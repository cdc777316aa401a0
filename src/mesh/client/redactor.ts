const censor = '[redacted]'

/** Takes secrets out of a text of somebody else, who may repeat what was sent. */
export type Redactor = (text: string) => string

/** What is shorter is no secret, as in what is logged: it would mangle ordinary text. */
const shortestSecret = 6

/** Secrets are found as they are and as they stand within JSON; the longest first, as one may begin with another. */
export function redactor(secrets: Iterable<string>): Redactor {
  const written = [...secrets].flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
  const wanted = [...new Set(written)]
    .filter((secret) => secret.length >= shortestSecret)
    .sort((a, b) => b.length - a.length)
  return (text) => wanted.reduce((rest, secret) => rest.replaceAll(secret, censor), text)
}

const deepest = 64

/** A copy of plain data without secrets, in the names of its members neither: anybody may name those. */
export const redactAll = <T>(value: T, redact: Redactor): T => redacted(value, redact, 0) as T

function redacted(value: unknown, redact: Redactor, depth: number): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > deepest) return censor
  if (Array.isArray(value)) return value.map((item) => redacted(item, redact, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [redact(name), redacted(member, redact, depth + 1)]),
  )
}
