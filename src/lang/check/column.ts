import {didYouMean, near, type Span} from '../diagnostics/index.js'
import type {Checker} from './checker.js'
import {type Column, show, type Table} from './types.js'
import {fixName} from './unknown-name.js'

/** Finds a column of a table by name, including `_id`; reports an unknown column. */
export function columnOf(c: Checker, table: Table, span: Span, name: string): Column | undefined {
  const found = name === table.id.name ? table.id : table.columns.find((column) => column.name === name)
  if (found !== undefined) {
    c.symbols?.use(span, found.span, () => `${table.name}.${name}: ${show(found.type)}`)
    return found
  }
  const names = table.columns.map((column) => column.name)
  const suggestion = name === 'id' ? '_id' : near(name, names)
  const advice = name === 'id' ? " Use '_id'." : didYouMean(suggestion)
  const meant = foreignColumn(name)
  const isQuoted = /["']/.test(c.source.charAt(span.start))
  const fixed = isQuoted ? {start: span.start + 1, end: Math.max(span.start + 1, span.end - 1)} : span
  c.report('typecheck.unknown_column', span, `Table '${table.name}' has no column '${name}'.${advice}`, {
    hints: [meant ?? `Columns of ${table.name}: ${names.join(', ')}`],
    ...fixName(fixed, suggestion),
  })
  return undefined
}

/** What to write instead of a connective of Prisma, or of SQL in a string. */
function foreignColumn(name: string): string | undefined {
  if (/^(AND|OR|NOT)$/.test(name)) return `Write ${name.toLowerCase()}.`
  const [, column, direction] = /^(\w+)\s+(asc|desc)$/i.exec(name) ?? []
  return column === undefined ? undefined : `Write order_by(${column}, ${direction?.toLowerCase()}).`
}
