const censor = '[redacted]'
const secretKey = /(token|secret|passw(or)?d|api[-_]?key|authorization|cookie|private[-_]?key)$/i
const maxDepth = 8

const secrets = new Set<string>()

/** Makes a value unprintable from now on. Short values are not secrets and would mangle ordinary text. */
export function registerSecret(value: string | undefined): void {
  if (value !== undefined && value.length >= 6) secrets.add(value)
}

/**
 * A copy without secrets: members whose name says so, and registered values wherever they stand in a text. Errors keep
 * their message and code.
 */
export function redact<T>(value: T): T {
  return censorValue(value, 0) as T
}

function censorValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return censorText(value)
  if (typeof value !== 'object' || value === null || depth > maxDepth) return value
  if (Array.isArray(value)) return value.map((item) => censorValue(item, depth + 1))
  if (value instanceof Error) {
    const {message, stack, name} = value
    return censorValue({...value, name, message, stack}, depth + 1)
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      secretKey.test(key) && (typeof member === 'string' || typeof member === 'number')
        ? censor
        : censorValue(member, depth + 1),
    ]),
  )
}

function censorText(text: string): string {
  let censored = text
  for (const secret of secrets) censored = censored.replaceAll(secret, censor)
  return censored
}
