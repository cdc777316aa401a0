/** Formats a log record as a line of text: `12:03:04.567 info llm: prefill done tokens=12`. */
export function asTextLine({level, time, target, msg, ...rest}: Readonly<Record<string, unknown>>): string {
  const facts = Object.entries(rest).map(([key, value]) => `${key}=${plain(value)}`)
  const head = `${String(time).slice(11, 23)} ${level} ${target ?? 'svc'}:`
  const line = [head, msg, ...facts].filter((part) => part !== undefined).join(' ')
  return `${line.replace(/[\r\n]+/g, '\\n')}\n`
}

const plain = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
