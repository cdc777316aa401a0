import type {Database} from 'better-sqlite3'
import type {MigrationStep} from '../../contracts/index.js'
import {counted} from '../../errors/index.js'
import {type Column, conversions, type Index, isEnum, isTime, type Program, show, type Table} from '../check/index.js'
import {columnDefinition, createIndex, createTable, sqlType} from '../emit/index.js'
import {indexedColumns, keyOf, quoted} from '../plan/index.js'
import {constraintSteps, isConstrainedOtherwise} from './constraints.js'
import {isRecoded, misfitsOf, nameRows} from './convert.js'
import {declaredOf, declaredType, holdsAll, showContents} from './declared.js'
import {dropIndex} from './drop-index.js'
import {rowsInTheWay} from './in-the-way.js'
import {constantDefault, literalOf, zeroOf} from './literal.js'
import {type LiveColumn, type LiveIndex, type LiveSchema, type LiveTable, liveColumn, quotedAny} from './live-schema.js'
import {renamed} from './renames.js'
import {hasRenamedVariants} from './variants.js'

export type Step = MigrationStep

/**
 * The steps from a live database to a program, in execution order.
 * @param database the database, if its rows should be checked
 */
export function diff(program: Program, current: LiveSchema, database?: Database): Step[] {
  const {steps: renames, live} = renamed(program, current)
  const found = program.tables.flatMap((table): [Table, LiveTable][] => {
    const known = live.tables.get(table.sqlName)
    return known === undefined ? [] : [[table, known]]
  })
  const known = found.filter(([, {hasId}]) => hasId)
  const changed = known.flatMap(([table, each]) => changedColumns(table, each, database))
  const isChanged = (table: Table) => (name: string) =>
    changed.some((step) => step.table === table.sqlName && step.column === name)
  return [
    ...renames,
    ...program.tables.filter(({sqlName}) => !live.tables.has(sqlName)).map(tableStep),
    ...found.filter(([, {hasId}]) => !hasId).map(([table]) => foreignTable(table)),
    ...known.flatMap(([table, each]) => respelledColumns(table, each)),
    ...known.flatMap(([table, each]) => addedColumns(table, each)),
    ...changed,
    ...known.flatMap(([table, each]) =>
      isRemade(table, each) ? [] : constraintSteps(table, each, live, isChanged(table), database),
    ),
    ...indexSteps(program, live, changed, database),
    ...known.flatMap(([table, each]) => droppedColumns(table, each)),
    ...droppedTables(program, live),
  ]
}

/** A table of another program, with a different primary key. */
const foreignTable = (table: Table): Step => ({
  action: 'rebuild_table',
  class: 'manual',
  blocking: true,
  table: table.sqlName,
  reason: 'the table has no column _id INTEGER PRIMARY KEY; rename the table, or add that column',
})

const tableStep = (table: Table): Step => ({
  action: 'create_table',
  class: 'auto',
  blocking: false,
  table: table.sqlName,
  sql: createTable(table),
})

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** SQLite returns a column name with the case of its creation, so a program with a different case would not find it. */
function respelledColumns(table: Table, live: LiveTable): Step[] {
  return table.columns.flatMap(({name}): Step[] => {
    const found = liveColumn(live, name)
    if (found === undefined || found.name === name) return []
    const sql = `ALTER TABLE ${quoted(table.sqlName)} RENAME COLUMN ${quotedAny(found.name)} TO ${quoted(name)};`
    const spelled = {from: found.name, to: name, sql}
    return [{action: 'change_column', class: 'auto', blocking: false, table: table.sqlName, column: name, ...spelled}]
  })
}

const addedTo = (table: Table, live: LiveTable): Column[] =>
  table.columns.filter(({name}) => liveColumn(live, name) === undefined)

/** Whether an empty table is rebuilt, because a new required column has a type without a zero value. */
const isRemade = (table: Table, live: LiveTable): boolean =>
  !live.hasRows && addedTo(table, live).some((column) => !column.nullable && zeroOf(column) === undefined)

function addedColumns(table: Table, live: LiveTable): Step[] {
  if (isRemade(table, live)) return [{action: 'rebuild_table', class: 'auto', blocking: false, table: table.sqlName}]
  return addedTo(table, live).map((column) => {
    const base = {action: 'add_column', table: table.sqlName, column: column.name} as const
    if (column.nullable) return {...base, class: 'auto', blocking: false, sql: addColumn(table, column)}
    if (!live.hasRows)
      return {...base, class: 'auto', blocking: false, sql: addColumn(table, column, literalOf(column, zeroOf(column)))}
    const literal = constantDefault(column)
    if (literal !== undefined) return {...base, class: 'auto', blocking: false, sql: addColumn(table, column, literal)}
    return {
      ...base,
      class: 'needs_default',
      blocking: true,
      resolve_with: `--default ${table.name}.${column.name}=${exampleOf(column)}`,
    }
  })
}

const exampleOf = (column: Column) => JSON.stringify(zeroOf(column) ?? conversions[show(column.base)]?.example ?? {})

export const addColumn = (table: Table, column: Column, literal?: string): string =>
  `ALTER TABLE ${quoted(table.sqlName)} ADD COLUMN ${columnDefinition(column, table)}${literal === undefined ? '' : ` DEFAULT ${literal}`};`

const describeType = (type: string, required: boolean) => `${type}${required ? ' NOT NULL' : ''}`

/** Whether the type of a column has changed in SQLite or in the language, so that stored values may change meaning. */
export function isChanged(column: Column, found: LiveColumn): boolean {
  if (found.type !== sqlType(column) || isRecoded(column, found)) return true
  // An unchanged recorded type needs no parsing.
  if (found.declared === declaredOf(column)) return false
  const before = declaredType(found)
  return before === undefined || !holdsAll(before, column.base)
}

function changedColumns(table: Table, live: LiveTable, database: Database | undefined): Step[] {
  if (isRemade(table, live)) return []
  return table.columns.flatMap((column): Step[] => {
    const found = liveColumn(live, column.name)
    if (found === undefined) return []
    const retyped = found.type !== sqlType(column)
    if (!retyped && found.required === !column.nullable && isRestored(table, column, found, database))
      return [{action: 'rebuild_table', class: 'auto', blocking: false, table: table.sqlName, column: column.name}]
    const reread = retyped ? undefined : rereadColumn(table, column, found, database)
    const isAsRequired = found.required === !column.nullable
    // The rebuild for changed constraints also lets the column be empty.
    const isWidened = column.nullable && isConstrainedOtherwise(table, column, found)
    if (!retyped && reread === undefined && (isAsRequired || isWidened)) return []
    return [
      {
        action: 'change_column',
        class: 'rebuild',
        // A column that became nullable still accepts its previous values.
        blocking: retyped || reread !== undefined || !column.nullable,
        table: table.sqlName,
        column: column.name,
        from: describeType(found.type, found.required),
        to: describeType(sqlType(column), !column.nullable),
        resolve_with: `--rebuild ${table.name}`,
        ...reread,
      },
    ]
  })
}

/** Whether only the form of the values changes: variants have new names, or an earlier version stored them as JSON. */
function isRestored(table: Table, column: Column, found: LiveColumn, database: Database | undefined): boolean {
  const isOther = (isEnum(column.base) && isRecoded(column, found)) || hasRenamedVariants(column.base)
  if (database === undefined || !isOther || !isChanged(column, found)) return false
  const before = declaredType(found)
  return (
    (before === undefined || holdsAll(before, column.base, {renames: true})) &&
    misfitsOf(database, table, column, found).count === 0
  )
}

/** A column with an unchanged storage class whose values the program would interpret differently. */
function rereadColumn(
  table: Table,
  column: Column,
  found: LiveColumn,
  database: Database | undefined,
): Partial<Step> | undefined {
  if (database === undefined || !isChanged(column, found)) return undefined
  if (isEmpty(database, table, found)) return undefined
  const before = declaredType(found)
  const {count, ids} = misfitsOf(database, table, column, found)
  // If the old type was not recorded, the values are valid if they can be decoded. Times are also normalised.
  if (before === undefined && count === 0 && !isTime(column.base)) return undefined
  const types = {
    from: before === undefined ? describeType(found.type, found.required) : showContents(before),
    to: showContents(column.base),
  }
  if (count === 0) return types
  const reason = `${counted(count, 'value is', 'values are')} not of type ${show(column.base)}, in ${nameRows(ids, count)}`
  return {...types, reason, resolve_with: `--using ${table.name}.${column.name}=<expression>`}
}

function isEmpty(database: Database, table: Table, found: LiveColumn): boolean {
  const {table: name, column} = found.stored ?? {table: table.sqlName, column: found.name}
  return (
    database.prepare(`SELECT 1 FROM ${quotedAny(name)} WHERE ${quotedAny(column)} IS NOT NULL LIMIT 1`).get() ===
    undefined
  )
}

function indexSteps(
  {indexes}: Program,
  live: LiveSchema,
  changed: readonly Step[],
  database: Database | undefined,
): Step[] {
  const declared = new Set(indexes.map(({sqlName}) => sqlName))
  const steps = indexes.flatMap((index): Step[] => {
    const found = live.indexes.get(index.sqlName)
    const table = live.tables.get(index.table.sqlName)
    if ((found !== undefined && isSame(index, found)) || table?.hasId === false) return []
    const create = createIndex(index).join('\n')
    const sql = found === undefined ? create : `${dropIndex(found)}\n${create}`
    const step = {action: 'create_index', index: index.sqlName, sql} as const
    // Added or changed columns will have different values when the index is created.
    const isThere = indexedColumns(index).every(
      ({name}) =>
        table?.columns.some((column) => column.name === name && column.stored === undefined) === true &&
        !changed.some((each) => each.table === index.table.sqlName && each.column === name),
    )
    const reason = database !== undefined && isThere ? rowsInTheWay(database, index) : undefined
    return [
      reason === undefined
        ? {...step, class: 'auto', blocking: false}
        : {...step, class: 'manual', blocking: true, reason},
    ]
  })
  const dropped = [...live.indexes.values()]
    .filter(({name, isOurs}) => isOurs && !declared.has(name))
    .map(
      (index): Step => ({
        action: 'drop_index',
        class: 'auto',
        blocking: false,
        index: index.name,
        sql: dropIndex(index),
      }),
    )
  return [...steps, ...dropped]
}

function isSame(index: Index, live: LiveIndex): boolean {
  // SQLite does not list the columns of these indexes.
  if (
    live.isVirtual ||
    live.isPartial ||
    index.where !== undefined ||
    index.columns.some((column) => keyOf(column) !== quoted(column.name))
  )
    return withoutCondition(`${live.sql};`) === withoutCondition(createIndex(index)[0] ?? '')
  const columns = index.columns.map(({name}) => name)
  return index.style === 'btree' && live.unique === index.unique && columns.join() === live.columns.join()
}

const withoutCondition = (sql: string) =>
  sql.replace(/^(CREATE (?:UNIQUE )?(?:INDEX|VIRTUAL TABLE)) IF NOT EXISTS /, '$1 ')

/** Columns that the program does not declare. */
export const undeclared = (table: Table, live: LiveTable): LiveColumn[] =>
  live.columns.filter(({name}) => !table.columns.some((column) => same(column.name, name)))

const droppedColumns = (table: Table, live: LiveTable): Step[] =>
  undeclared(table, live).map((column) => ({
    action: 'drop_column',
    class: 'manual',
    // Every insert of the program would leave the column NULL.
    blocking: column.required && column.fallback === null,
    table: table.sqlName,
    column: column.name,
    sql: `ALTER TABLE ${quoted(table.sqlName)} DROP COLUMN ${quotedAny(column.name)};`,
    resolve_with: `--drop ${table.name}.${column.name}`,
  }))

function droppedTables({tables}: Program, live: LiveSchema): Step[] {
  const declared = new Set(tables.map(({sqlName}) => sqlName))
  return [...live.tables.keys()]
    .filter((name) => !declared.has(name))
    .map((name) => ({
      action: 'drop_table',
      class: 'manual',
      blocking: false,
      table: name,
      sql: `DROP TABLE ${quotedAny(name)};`,
      resolve_with: `--drop ${name}`,
    }))
}
