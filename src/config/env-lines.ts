/** A line of a file of variables; lines are counted from 1. */
export type EnvLine = {number: number; text: string} & (
  | {kind: 'blank'}
  | {kind: 'unreadable'}
  | {kind: 'variable'; name: string; value: string}
)

const assignment = /^(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)$/
const quoted = /^(?:"([^"]*)"|'([^']*)')\s*(?:#.*)?$/

/**
 * The lines of a text `NAME=value`, one each. `#` begins a comment, at the start of a line or after a blank; a value in
 * quotes, single or double, stands for what is between them as it is.
 */
export const parseEnvLines = (text: string): EnvLine[] =>
  text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((line, i) => ({number: i + 1, text: line, ...parse(line.trim())}))

function parse(line: string) {
  if (line === '' || line.startsWith('#')) return {kind: 'blank'} as const
  const [, name, raw] = assignment.exec(line) ?? []
  const value = raw === undefined ? undefined : unquoted(raw)
  if (name === undefined || value === undefined) return {kind: 'unreadable'} as const
  return {kind: 'variable', name, value} as const
}

/** Undefined where a quote is not closed. */
function unquoted(raw: string): string | undefined {
  if (/^["']/.test(raw)) {
    const [, double, single] = quoted.exec(raw) ?? []
    return double ?? single
  }
  return raw.replace(/(^|\s)#.*$/, '').trim()
}
