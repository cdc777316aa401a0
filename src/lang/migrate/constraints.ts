import type {Database} from 'better-sqlite3'
import type {MigrationStep} from '../../contracts/index.js'
import type {Column, Program, Table} from '../check/index.js'
import {constraintsOf} from '../emit/index.js'
import {conditionColumns, conditionSql, quoted} from '../plan/index.js'
import {nameRows} from './convert.js'
import {withoutName} from './create-table.js'
import {type LiveColumn, type LiveSchema, type LiveTable, liveColumn} from './live-schema.js'

/** Whether the database checks something else for a column than the program declares. */
export const isConstrainedOtherwise = (table: Table, column: Column, found: LiveColumn): boolean =>
  constraintsOf(column, table).map(withoutName).join('\n') !== found.constraints.join('\n')

/**
 * The steps for columns with changed constraints. A table whose rows meet the new ones is rebuilt automatically.
 * @param isChanged whether the values of a column will change, so that they cannot be checked yet
 */
export function constraintSteps(
  table: Table,
  live: LiveTable,
  schema: LiveSchema,
  isChanged: (column: string) => boolean,
  database: Database | undefined,
): MigrationStep[] {
  return table.columns.flatMap((column): MigrationStep[] => {
    const found = liveColumn(live, column.name)
    if (found === undefined || isChanged(column.name) || !isConstrainedOtherwise(table, column, found)) return []
    const refused = database && refusal({table, live, schema, isChanged, database}, column)
    if (refused === undefined)
      return [{action: 'rebuild_table', class: 'auto', blocking: false, table: table.sqlName, column: column.name}]
    return [
      {
        action: 'change_column',
        class: 'rebuild',
        blocking: true,
        table: table.sqlName,
        column: column.name,
        reason: refused,
        resolve_with: `--using ${table.name}.${column.name}=<expression>`,
      },
    ]
  })
}

interface Rows {
  table: Table
  live: LiveTable
  schema: LiveSchema
  isChanged: (column: string) => boolean
  database: Database
}

const isHere = (found: LiveColumn | undefined, name: string) => found?.name === name && found.stored === undefined

const maxNamed = 10

/** Why the rows of a table do not meet the constraints of a column. */
function refusal({table, live, schema, isChanged, database}: Rows, column: Column): string | undefined {
  const idsOf = (condition: string) =>
    database
      .prepare(`SELECT "_id" FROM ${quoted(table.sqlName)} WHERE ${condition} ORDER BY "_id"`)
      .pluck()
      .all() as number[]
  const isThere = ({name}: Column) => isHere(liveColumn(live, name), name) && !isChanged(name)
  const {check, onDelete, base} = column
  if (check !== undefined && conditionColumns(check, table).every(isThere)) {
    const ids = idsOf(`NOT (${conditionSql(check, table)})`)
    if (ids.length > 0) return `${inRows(ids)} not meet check(${check.text})`
  }
  if (
    onDelete === undefined ||
    base.kind !== 'id' ||
    !isThere(column) ||
    schema.tables.get(base.table.sqlName)?.columns.some(({stored}) => stored !== undefined) !== false
  )
    return undefined
  const name = quoted(column.name)
  const ids = idsOf(`${name} IS NOT NULL AND ${name} NOT IN (SELECT "_id" FROM ${quoted(base.table.sqlName)})`)
  return ids.length === 0 ? undefined : `${inRows(ids)} not refer to a row of ${base.table.name}`
}

/** Rows of a live database whose references lead nowhere, and what decides about them; undefined if there are none. */
export function danglingReferences(database: Database, {tables}: Program): string | undefined {
  const broken = database.pragma('foreign_key_check') as {table: string; rowid: number; parent: string; fkid: number}[]
  const [first] = broken
  if (first === undefined) return undefined
  const ids = broken.filter(({table, fkid}) => table === first.table && fkid === first.fkid).map(({rowid}) => rowid)
  const keys = database.pragma(`foreign_key_list(${quoted(first.table)})`) as {id: number; from: string}[]
  const column = keys.find(({id}) => id === first.fkid)?.from ?? ''
  const declared = (sqlName: string) => tables.find((table) => table.sqlName === sqlName)?.name
  const table = declared(first.table)
  const fault = `${inRows(ids, table ?? first.table)} not refer to a row of ${declared(first.parent) ?? first.parent}`
  return table === undefined ? fault : `${fault}; add --using ${table}.${column}=<expression>`
}

const inRows = (ids: readonly number[], table?: string) => {
  const rows = nameRows(ids.slice(0, maxNamed), ids.length)
  return `${rows}${table === undefined ? '' : ` of ${table}`} ${ids.length === 1 ? 'does' : 'do'}`
}
