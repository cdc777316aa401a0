import {type Program, type Route, reachable, type Table, type Type} from '../check/index.js'

/** Whether rows of a table may lack columns. */
export type IsPartial = (table: Table) => boolean

const selectedBy = (functions: Iterable<Program['functions'][number]>): IsPartial => {
  const tables = new Set(
    [...functions].flatMap(({chains}) => chains.filter(({select}) => select !== undefined).map(({table}) => table)),
  )
  return (table) => tables.has(table)
}

/** Of what a route gives: where the function, or one that it calls, takes some columns of the table alone. */
export const partialIn = ({function: made}: Route): IsPartial => selectedBy(reachable(made))

/** Of fields of named types, which any function may fill. */
export const partialAnywhere = ({functions}: Program): IsPartial => selectedBy(functions)

/** Tables whose rows stand in a type, at any depth but below a name. */
export function rowsIn(type: Type): Table[] {
  switch (type.kind) {
    case 'row':
      return [type.table]
    case 'list':
    case 'set':
    case 'map':
    case 'option':
      return rowsIn(type.of)
    case 'tuple':
      return type.items.flatMap(rowsIn)
    case 'result':
      return [...rowsIn(type.ok), ...rowsIn(type.error)]
    default:
      return []
  }
}

export const wholeRows: IsPartial = () => false
