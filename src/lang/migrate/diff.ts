import type {Column, Index, Program, Table} from '../check/index.js'
import {columnDefinition, createIndex, createTable, sqlType} from '../emit/index.js'
import {keyOf, quoted} from '../plan/index.js'
import {literalOf, zeroOf} from './literal.js'
import type {LiveColumn, LiveIndex, LiveSchema, LiveTable} from './live-schema.js'
import {quotedAny} from './live-schema.js'

/**
 * `auto` happens by itself, `needs_default` and `rebuild` once the named flag is given, `manual` never without being
 * named. A blocking step that is left keeps the program from working.
 */
export type StepClass = 'auto' | 'needs_default' | 'rebuild' | 'manual'

export interface Step {
  action:
    | 'create_table'
    | 'add_column'
    | 'change_column'
    | 'rebuild_table'
    | 'create_index'
    | 'drop_index'
    | 'drop_column'
    | 'drop_table'
  class: StepClass
  blocking: boolean
  table?: string
  column?: string
  index?: string
  /** Of a changed column: what it is and what it becomes. */
  from?: string
  to?: string
  sql?: string
  resolve_with?: string
}

/** The steps from a live database to a program, in the order in which they are taken. */
export function diff(program: Program, live: LiveSchema): Step[] {
  const known = program.tables.flatMap((table): [Table, LiveTable][] => {
    const found = live.tables.get(table.sqlName)
    return found === undefined ? [] : [[table, found]]
  })
  return [
    ...program.tables.filter(({sqlName}) => !live.tables.has(sqlName)).map(tableStep),
    ...known.flatMap(([table, found]) => respelledColumns(table, found)),
    ...known.flatMap(([table, found]) => addedColumns(table, found)),
    ...known.flatMap(([table, found]) => changedColumns(table, found)),
    ...indexSteps(program, live),
    ...known.flatMap(([table, found]) => droppedColumns(table, found)),
    ...droppedTables(program, live),
  ]
}

const tableStep = (table: Table): Step => ({
  action: 'create_table',
  class: 'auto',
  blocking: false,
  table: table.sqlName,
  sql: createTable(table),
})

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** SQLite gives rows the spelling that a column was made with, so a program that spells it otherwise would miss it. */
function respelledColumns(table: Table, live: LiveTable): Step[] {
  return table.columns.flatMap(({name}): Step[] => {
    const found = live.columns.find((column) => same(column.name, name))
    if (found === undefined || found.name === name) return []
    const sql = `ALTER TABLE ${quoted(table.sqlName)} RENAME COLUMN ${quotedAny(found.name)} TO ${quoted(name)};`
    const spelled = {from: found.name, to: name, sql}
    return [{action: 'change_column', class: 'auto', blocking: false, table: table.sqlName, column: name, ...spelled}]
  })
}

const addedTo = (table: Table, live: LiveTable): Column[] =>
  table.columns.filter(({name}) => !live.columns.some((column) => same(column.name, name)))

/** An empty table is made anew for a required column whose type has no value to begin with. */
const isRemade = (table: Table, live: LiveTable): boolean =>
  !live.hasRows && addedTo(table, live).some((column) => !column.nullable && zeroOf(column) === undefined)

function addedColumns(table: Table, live: LiveTable): Step[] {
  if (isRemade(table, live)) return [{action: 'rebuild_table', class: 'auto', blocking: false, table: table.sqlName}]
  return addedTo(table, live).map((column) => {
    const base = {action: 'add_column', table: table.sqlName, column: column.name} as const
    if (column.nullable) return {...base, class: 'auto', blocking: false, sql: addColumn(table, column)}
    if (!live.hasRows)
      return {...base, class: 'auto', blocking: false, sql: addColumn(table, column, literalOf(column, zeroOf(column)))}
    return {
      ...base,
      class: 'needs_default',
      blocking: true,
      resolve_with: `--default ${table.name}.${column.name}=${exampleOf(column)}`,
    }
  })
}

const exampleOf = (column: Column) => JSON.stringify(zeroOf(column) ?? {})

export const addColumn = (table: Table, column: Column, literal?: string): string =>
  `ALTER TABLE ${quoted(table.sqlName)} ADD COLUMN ${columnDefinition(column)}${literal === undefined ? '' : ` DEFAULT ${literal}`};`

const shown = (type: string, required: boolean) => `${type}${required ? ' NOT NULL' : ''}`

function changedColumns(table: Table, live: LiveTable): Step[] {
  if (isRemade(table, live)) return []
  return table.columns.flatMap((column): Step[] => {
    const found = live.columns.find(({name}) => same(name, column.name))
    if (found === undefined) return []
    const retyped = found.type !== sqlType(column)
    if (!retyped && found.required === !column.nullable) return []
    return [
      {
        action: 'change_column',
        class: 'rebuild',
        // A column that may now be empty still takes what it took before.
        blocking: retyped || !column.nullable,
        table: table.sqlName,
        column: column.name,
        from: shown(found.type, found.required),
        to: shown(sqlType(column), !column.nullable),
        resolve_with: `--rebuild ${table.name}`,
      },
    ]
  })
}

function indexSteps({indexes}: Program, live: LiveSchema): Step[] {
  const declared = new Set(indexes.map(({sqlName}) => sqlName))
  const steps = indexes.flatMap((index): Step[] => {
    const found = live.indexes.get(index.sqlName)
    if (found !== undefined && isSame(index, found)) return []
    const create = createIndex(index).join('\n')
    const sql = found === undefined ? create : `${dropIndex(found)}\n${create}`
    return [{action: 'create_index', class: 'auto', blocking: false, index: index.sqlName, sql}]
  })
  const dropped = [...live.indexes.values()]
    .filter(({name}) => !declared.has(name))
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
  // SQLite does not tell the columns of these.
  if (live.isVirtual || index.columns.some((column) => keyOf(column) !== quoted(column.name)))
    return withoutCondition(`${live.sql};`) === withoutCondition(createIndex(index)[0] ?? '')
  const columns = index.columns.map(({name}) => name)
  return index.style === 'btree' && live.unique === index.unique && columns.join() === live.columns.join()
}

const withoutCondition = (sql: string) =>
  sql.replace(/^(CREATE (?:UNIQUE )?(?:INDEX|VIRTUAL TABLE)) IF NOT EXISTS /, '$1 ')

export function dropIndex({name, isVirtual}: LiveIndex): string {
  if (!isVirtual) return `DROP INDEX IF EXISTS ${quotedAny(name)};`
  const triggers = ['ai', 'ad', 'au'].map((suffix) => `DROP TRIGGER IF EXISTS ${quotedAny(`${name}_${suffix}`)};`)
  return [...triggers, `DROP TABLE IF EXISTS ${quotedAny(name)};`].join('\n')
}

/** Columns that the program does not declare. */
export const undeclared = (table: Table, live: LiveTable): LiveColumn[] =>
  live.columns.filter(({name}) => !table.columns.some((column) => same(column.name, name)))

const droppedColumns = (table: Table, live: LiveTable): Step[] =>
  undeclared(table, live).map((column) => ({
    action: 'drop_column',
    class: 'manual',
    // Every insert of the program would leave it empty.
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
