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
