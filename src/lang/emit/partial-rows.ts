import {type Program, type Route, reachable, type Table, type Type} from '../check/index.js'

/** Whether rows of a table may lack columns. */
export type IsPartial = (table: Table) => boolean

const selectedBy = (functions: Iterable<Program['functions'][number]>): IsPartial => {
  const tables = new Set(
    [...functions].flatMap(({chains}) => chains.filter(({select}) => select !== undefined).map(({table}) => table)),
  )
  return (table) => tables.has(table)
}

/** For the result of a route: true if its function, or one that it calls, selects some columns of the table. */
export const partialIn = ({function: made}: Route): IsPartial => selectedBy(reachable(made))

/** For fields of named types, which any function can set. */
export const partialAnywhere = ({functions}: Program): IsPartial => selectedBy(functions)

/** Tables whose rows occur in a type, at any depth except inside named types. */
export function rowsIn(type: Type): Table[] {
  if (type.kind === 'row') return [type.table]
  if (type.kind === 'object') return [...type.fields.values()].flatMap(rowsIn)
  if (type.kind === 'tuple') return type.items.flatMap(rowsIn)
  if (type.kind === 'result') return [type.ok, type.error].flatMap(rowsIn)
  return 'of' in type && type.kind !== 'outcome' ? rowsIn(type.of) : []
}

export const completeRows: IsPartial = () => false
