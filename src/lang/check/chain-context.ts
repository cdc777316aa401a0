import type {Arg, Name} from '../syntax/index.js'
import {hasArgCount} from './arguments.js'
import type {Checker} from './checker.js'
import type {Chain, ChainOp} from './ir.js'
import type {Table} from './types.js'

/** A part of `db.Table.head(...).modifier(...)`: a name, with arguments where it is called. */
export interface Link {
  name: Name
  args: readonly Arg[] | undefined
}

/** The operation that is being read. */
export interface ChainContext {
  readonly c: Checker
  readonly table: Table
  readonly head: Name
  readonly chain: Chain
}

export const writes: ReadonlySet<ChainOp> = new Set(['insert', 'delete', 'update', 'unsafe_query_raw_clause'])

/** Whether a link has as many arguments as it takes; where it has not, they are checked by themselves. */
export function hasChainArgs({c}: ChainContext, name: Name, args: readonly Arg[], takes: number): boolean {
  if (hasArgCount(c, args, {name: name.text, span: name, most: takes})) return true
  for (const {value} of args) if (value.kind !== 'object') c.value(value)
  return false
}
