import {didYouMean, near, type Span} from '../diagnostics/index.js'
import type {BodyChecker} from './body.js'
import {fixName} from './declare.js'
import {type Column, show, type Table} from './types.js'

/** A column of a table by its name, `_id` among them. */
export function columnOf(c: BodyChecker, table: Table, span: Span, name: string): Column | undefined {
  const found = name === '_id' ? table.id : table.columns.find((column) => column.name === name)
  if (found !== undefined) {
    c.symbols?.use(span, found.span, () => `${table.name}.${name}: ${show(found.type)}`)
    return found
  }
  const names = table.columns.map((column) => column.name)
  const suggestion = name === 'id' ? '_id' : near(name, names)
  const said = name === 'id' ? " Use '_id'." : didYouMean(suggestion)
  const quoted = c.source.charAt(span.start)
  const fix =
    quoted === '"' || quoted === "'" ? {start: span.start + 1, end: Math.max(span.start + 1, span.end - 1)} : span
  c.report('typecheck.unknown_column', span, `Table '${table.name}' has no column '${name}'.${said}`, {
    hints: [`Columns of ${table.name}: ${names.join(', ')}`],
    ...fixName(fix, suggestion),
  })
  return undefined
}
