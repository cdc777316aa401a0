import type {Fields} from '../body.js'

/** How long a model stays loaded after a reply, in ms. */
export type KeepAlive = number | 'forever'

/** Beyond what 64 bits of nanoseconds hold, about 292 years, a duration is for ever. */
const longestMs = 2 ** 63 / 1e6

/** ms; as Go's time.ParseDuration knows them. */
const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/
const duration = new RegExp(`^[+-]?(0|(${part.source})+)$`)

/**
 * A number of seconds, or a duration such as `10m` or `1h30m`; what is negative lasts for ever.
 * @throws bad_request
 */
export function readKeepAlive(fields: Fields): KeepAlive | undefined {
  const value = fields.get('keep_alive')
  if (value === undefined) return undefined
  const ms = typeof value === 'string' ? parseDuration(value) : typeof value === 'number' ? value * 1000 : Number.NaN
  if (Number.isNaN(ms)) throw fields.wrong('keep_alive', 'be a number of seconds or a duration such as "10m"')
  return ms < 0 || ms > longestMs ? 'forever' : ms
}

/** ms, or NaN. */
function parseDuration(text: string): number {
  if (!duration.test(text)) return Number.NaN
  const parts = [...text.matchAll(new RegExp(part, 'g'))]
  const ms = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit as string] as number), 0)
  return text.startsWith('-') ? -ms : ms
}
