import type {Arg, Name} from '../syntax/index.js'
import {hasArgCount} from './arguments.js'
import type {Checker} from './checker.js'
import type {Chain, ChainOp} from './ir.js'
import type {Table} from './types.js'

/** A link of `db.Table.head(...).modifier(...)`: a name, with arguments if it is called. */
export interface Link {
  name: Name
  args: readonly Arg[] | undefined
}

/** The database operation being checked. */
export interface ChainContext {
  readonly c: Checker
  readonly table: Table
  readonly head: Name
  readonly chain: Chain
}

export const writes: ReadonlySet<ChainOp> = new Set([
  'insert',
  'upsert',
  'delete',
  'update',
  'delete_where',
  'update_where',
  'unsafe_query_raw_clause',
])

/** Whether a link has the right number of arguments. If not, its arguments are checked without expected types. */
export function hasChainArgs({c}: ChainContext, name: Name, args: readonly Arg[], max: number, min = max): boolean {
  if (hasArgCount(c, args, {name: name.text, span: name, max, min})) return true
  for (const {value} of args) if (value.kind !== 'object') c.value(value)
  return false
}
