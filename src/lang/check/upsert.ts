import type {Expr} from '../syntax/index.js'
import type {ChainContext} from './chain-context.js'
import {insertedRecord, readChanges} from './stored-record.js'
import type {Index, Table} from './types.js'

/**
 * Checks `upsert(record, changes, index)`. Without changes, the columns of the record replace those of the row. The index
 * can be omitted if the table has only one unique index.
 */
export function readUpsert(context: ChainContext, [record, changed, index]: readonly Expr[]): void {
  const {chain} = context
  if (record === undefined) return
  chain.record = insertedRecord(context, record)
  chain.key = keyOf(context, index)
  if (changed !== undefined) chain.changes = readChanges(context, changed)
}

function keyOf({c, table, head}: ChainContext, expr: Expr | undefined): Index | undefined {
  const known = uniqueIndexes(table)
  const names = known.map(({name}) => name)
  if (expr === undefined) {
    if (known.length > 1)
      c.report(
        'typecheck.upsert_key',
        head,
        `'${table.name}' has several unique indexes; name one as the third argument of upsert().`,
        {
          hints: [`Unique indexes of ${table.name}: ${names.join(', ')}`],
        },
      )
    return known[0]
  }
  const name = expr.kind === 'str' ? expr.value : expr.kind === 'name' ? expr.name.text : undefined
  const found = known.find((each) => each.name === name)
  if (found === undefined)
    c.report('typecheck.upsert_key', expr, 'The third argument of upsert() must be the name of a unique index.', {
      hints: [`Unique indexes of ${table.name}: ${names.join(', ')}`],
    })
  return found
}

/** The indexes that can decide whether a row exists: those of all rows. */
export const uniqueIndexes = ({indexes}: Table): Index[] =>
  indexes.filter(({style, unique, where}) => style === 'btree' && unique && where === undefined)
