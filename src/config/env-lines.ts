/** A line of an env file; line numbers start at 1. */
export type EnvLine = {number: number; text: string} & (
  | {kind: 'blank'}
  | {kind: 'unreadable'}
  | {kind: 'variable'; name: string; value: string}
)

const assignment = /^(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)$/
const quoted = /^(?:"([^"]*)"|'([^']*)')\s*(?:#.*)?$/

/**
 * Parses lines of the form `NAME=value`. `#` starts a comment at the start of a line or after white space. A value in
 * single or double quotes is taken literally.
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

/** The value without quotes; undefined if a quote is not closed. */
function unquoted(raw: string): string | undefined {
  if (/^["']/.test(raw)) {
    const [, double, single] = quoted.exec(raw) ?? []
    return double ?? single
  }
  return raw.replace(/(^|\s)#.*$/, '').trim()
}
