const units = {ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000} as const

/** Reads a duration of a workflow file, which its schema has checked: integer ms, or `500ms`, `1.5s`, `2m`, `1h`, `7d`. */
export function durationMs(value: number | string): number {
  if (typeof value === 'number') return value
  const [, amount = '', unit = 'ms'] = /^([0-9.]+)(ms|s|m|h|d)$/.exec(value) ?? []
  return Math.round(Number(amount) * units[unit as keyof typeof units])
}
