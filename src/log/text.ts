/** A log record as a person reads it: `12:03:04.567 info llm: prefill done tokens=12`. */
export function asTextLine(record: string): string {
  const {level, time, target, msg, ...rest} = JSON.parse(record) as Record<string, unknown>
  const facts = Object.entries(rest).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const head = `${String(time).slice(11, 23)} ${level} ${target ?? 'svc'}:`
  return `${[head, msg, ...facts].filter((part) => part !== undefined).join(' ')}\n`
}
