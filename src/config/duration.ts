/** Milliseconds per unit: the units of Go's time.ParseDuration, days and weeks. */
const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
}

const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h|d|w)/
const duration = new RegExp(`^[+-]?(0|(${part.source})+)$`)

/** Milliseconds of a duration such as `10m`, `1h30m` or `30d`; NaN if the text is not a duration. */
export function parseDuration(text: string): number {
  if (!duration.test(text)) return Number.NaN
  const parts = [...text.matchAll(new RegExp(part, 'g'))]
  const ms = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit as string] as number), 0)
  return text.startsWith('-') ? -ms : ms
}

/** Longest duration that a setting, flag or file can contain, ms: 1000 years, so that each time from now has a date. */
export const maxDurationMs = 365_250 * 86_400_000

/** The last moment that is accepted, Unix ms: the end of the year 9999, the last one with four digits. */
export const latestMomentMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** A duration as whole ms. Undefined if the text is not a duration of 0 to 1000 years. */
export function readDuration(text: string): number | undefined {
  const ms = Math.round(parseDuration(text.trim()))
  return ms >= 0 && ms <= maxDurationMs ? ms : undefined
}

/** `2026-12-01`, `2026-12-01T08:00` or `2026-12-01 08:00:30`, with or without a time zone. */
const momentPattern = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)?)?$/

/**
 * A point in time as Unix ms: a date and time, local without a zone, or `+` and a duration from now. Undefined if the
 * text is neither, or the time is after the year 9999.
 */
export function readMoment(text: string, now: number): number | undefined {
  const value = text.trim()
  const after = value.startsWith('+') ? readDuration(value) : undefined
  const ms = after === undefined ? parseMoment(value) : now + after
  return Number.isSafeInteger(ms) && ms >= 0 && ms <= latestMomentMs ? ms : undefined
}

function parseMoment(text: string): number {
  const [, year, month, day, time = '00:00', zone = ''] = momentPattern.exec(text) ?? []
  // `Date.UTC` rolls an invalid day such as 31 April over to the next month.
  const isDay = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day)
  return isDay ? Date.parse(`${year}-${month}-${day}T${time}${zone}`) : Number.NaN
}

/** A stored time as text, ISO 8601 in UTC. A number that is not a time does not prevent a list from being shown. */
export const formatMoment = (ms: number): string =>
  Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : `invalid time ${ms}`
