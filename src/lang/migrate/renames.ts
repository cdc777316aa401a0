import type {MigrationStep} from '../../contracts/index.js'
import type {Program, Table} from '../check/index.js'
import {quoted} from '../plan/index.js'
import {declaredKey} from './declared.js'
import {dropIndex} from './drop-index.js'
import {type LiveColumn, type LiveIndex, type LiveSchema, type LiveTable, liveColumn, quotedAny} from './live-schema.js'

/** A step that renames a table or a column. */
export const isRename = ({action, class: kind, from = '', to = ''}: MigrationStep): boolean =>
  action === 'rename_table' ||
  (action === 'change_column' && kind === 'auto' && from.toLowerCase() !== to.toLowerCase())

/** The steps that rename what the program declares with `was`, and the schema after them. */
export function renamed(program: Program, live: LiveSchema): {steps: MigrationStep[]; live: LiveSchema} {
  const steps: MigrationStep[] = []
  const state = {tables: new Map(live.tables), indexes: new Map(live.indexes)}
  for (const table of program.tables) {
    const from = table.was === undefined || state.tables.has(table.sqlName) ? undefined : state.tables.get(table.was)
    if (from !== undefined) steps.push(renameTable(table, from, state))
    steps.push(...renamedColumns(table, state))
  }
  return {steps, live: {...live, ...state}}
}

interface State {
  tables: Map<string, LiveTable>
  indexes: Map<string, LiveIndex>
}

function renameTable({sqlName}: Table, from: LiveTable, state: State): MigrationStep {
  // The names of indexes contain that of their table, so they are made again.
  const drops = dropIndexes(state, ({table, isOurs}) => isOurs && table === from.name)
  state.tables.delete(from.name)
  const columns = from.columns.map(
    (column): LiveColumn => ({...column, stored: {table: from.name, column: column.name}}),
  )
  state.tables.set(sqlName, {...from, name: sqlName, columns})
  for (const [name, each] of state.tables)
    state.tables.set(name, withConstraints(each, `REFERENCES ${quoted(from.name)} `, `REFERENCES ${quoted(sqlName)} `))
  return {
    action: 'rename_table',
    class: 'auto',
    blocking: false,
    table: sqlName,
    from: from.name,
    to: sqlName,
    sql: [...drops, `ALTER TABLE ${quotedAny(from.name)} RENAME TO ${quoted(sqlName)};`].join('\n'),
  }
}

function renamedColumns(table: Table, state: State): MigrationStep[] {
  const {sqlName} = table
  return table.columns.flatMap(({name, was}): MigrationStep[] => {
    const live = state.tables.get(sqlName)
    if (live === undefined || was === undefined || liveColumn(live, name) !== undefined) return []
    const from = liveColumn(live, was)
    if (from === undefined) return []
    // The columns of a search index have the names of those of its table.
    const drops = dropIndexes(state, (index) => index.isVirtual && index.table === sqlName)
    const columns = live.columns.map((column) =>
      column === from ? {...column, name, stored: column.stored ?? {table: sqlName, column: from.name}} : column,
    )
    state.tables.set(sqlName, withConstraints({...live, columns}, quotedAny(from.name), quoted(name)))
    for (const [key, index] of state.indexes)
      if (index.table === sqlName)
        state.indexes.set(key, {
          ...index,
          columns: index.columns.map((column) => (column === from.name ? name : column)),
          sql: index.sql.replaceAll(quotedAny(from.name), quoted(name)),
        })
    const sql = `ALTER TABLE ${quoted(sqlName)} RENAME COLUMN ${quotedAny(from.name)} TO ${quoted(name)};`
    return [
      {
        action: 'change_column',
        class: 'auto',
        blocking: false,
        table: sqlName,
        column: name,
        from: from.name,
        to: name,
        sql: [...drops, sql].join('\n'),
      },
    ]
  })
}

const withConstraints = (table: LiveTable, from: string, to: string): LiveTable => ({
  ...table,
  columns: table.columns.map((column) => ({
    ...column,
    constraints: column.constraints.map((each) => each.replaceAll(from, to)),
  })),
})

/** Removes indexes from the schema, and returns the statements that drop them. */
function dropIndexes({indexes}: State, isDropped: (index: LiveIndex) => boolean): string[] {
  return [...indexes.values()].filter(isDropped).map((index) => {
    indexes.delete(index.name)
    return dropIndex(index)
  })
}

/** Moves the recorded types of what a step renames. */
export function renameDeclared(
  {action, table = '', column = '', from = ''}: MigrationStep,
  live: LiveSchema,
): string[] {
  const isMoved = (key: string) =>
    action === 'rename_table' ? key.startsWith(`${from.toLowerCase()}.`) : key === declaredKey(table, from)
  if (![...live.declared.keys()].some(isMoved)) return []
  return [
    action === 'rename_table'
      ? `UPDATE OR REPLACE svc_data_columns SET table_name = '${table}' WHERE table_name = '${from}';`
      : `UPDATE OR REPLACE svc_data_columns SET column_name = '${column}' WHERE table_name = '${table}' AND column_name = '${from}';`,
  ]
}
