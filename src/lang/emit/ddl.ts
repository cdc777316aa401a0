import {type Column, deleteActions, type Index, isEnum, type Program, type Table} from '../check/index.js'
import {conditionSql, keyOf, quoted} from '../plan/index.js'

const sqlTypes: Readonly<Record<Column['storage'], string>> = {
  integer: 'INTEGER',
  real: 'REAL',
  text: 'TEXT',
  blob: 'BLOB',
  json: 'TEXT',
  millis: 'INTEGER',
}

export const sqlType = ({storage}: Column): string => sqlTypes[storage]

/** The names of the constraints that a program declares; a user's constraints have other names. */
export const constraintPrefix = 'svc_'

const nameLiteral = (variant: {name: string}) => `'${variant.name}'`

/** What the database checks for a column: `CHECK (...)`, `REFERENCES ...`. */
export function constraintsOf({base, name, check, onDelete}: Column, table: Table): string[] {
  const constraint = (what: string, sql: string) => `CONSTRAINT ${quoted(`${constraintPrefix}${what}_${name}`)} ${sql}`
  return [
    ...(base.kind === 'sum' && isEnum(base)
      ? [constraint('enum', `CHECK (${quoted(name)} IN (${base.sum.variants.map(nameLiteral).join(', ')}))`)]
      : []),
    ...(check === undefined ? [] : [constraint('check', `CHECK (${conditionSql(check, table)})`)]),
    ...(onDelete === undefined || base.kind !== 'id'
      ? []
      : [
          constraint(
            'reference',
            `REFERENCES ${quoted(base.table.sqlName)} ("_id") ON DELETE ${deleteActions[onDelete]}`,
          ),
        ]),
  ]
}

export const columnDefinition = (column: Column, table: Table): string =>
  [
    `${quoted(column.name)} ${sqlType(column)}${column.nullable ? '' : ' NOT NULL'}`,
    ...constraintsOf(column, table),
  ].join(' ')

export function createTable(table: Table, ifNotExists = true): string {
  const {sqlName, columns} = table
  const definitions = [
    '"_id" INTEGER PRIMARY KEY AUTOINCREMENT',
    ...columns.map((column) => columnDefinition(column, table)),
  ]
  return `CREATE TABLE ${ifNotExists ? 'IF NOT EXISTS ' : ''}${quoted(sqlName)} (\n  ${definitions.join(',\n  ')}\n);`
}

const list = (columns: readonly Column[], prefix = '') => columns.map(({name}) => prefix + quoted(name)).join(', ')

/** The statements that create an index: one for a B-tree; a virtual table with three triggers for the others. */
export function createIndex(index: Index): string[] {
  const {sqlName, table, columns, style, unique, where} = index
  if (style === 'btree') {
    const rows = where === undefined ? '' : ` WHERE (${conditionSql(where, table)})`
    return [
      `CREATE ${unique ? 'UNIQUE ' : ''}INDEX IF NOT EXISTS ${quoted(sqlName)} ON ${quoted(table.sqlName)} (${columns.map(keyOf).join(', ')})${rows};`,
    ]
  }
  return style === 'search' ? createSearchIndex(index) : createVectorIndex(index)
}

/** External content: the index does not copy the text. Source: SQLite FTS5 documentation, section 4.4.3. */
function createSearchIndex({sqlName, table, columns}: Index): string[] {
  const fts = quoted(sqlName)
  const add = `INSERT INTO ${fts}(rowid, ${list(columns)}) VALUES (new."_id", ${list(columns, 'new.')});`
  const remove = `INSERT INTO ${fts}(${fts}, rowid, ${list(columns)}) VALUES ('delete', old."_id", ${list(columns, 'old.')});`
  return [
    `CREATE VIRTUAL TABLE IF NOT EXISTS ${fts} USING fts5(${list(columns)}, content=${quoted(table.sqlName)}, content_rowid="_id");`,
    ...triggers(sqlName, table, {insert: add, delete: remove, update: `${remove} ${add}`}),
  ]
}

function createVectorIndex({sqlName, table, columns, dimensions}: Index): string[] {
  const vec = quoted(sqlName)
  const name = columns[0]?.name ?? ''
  const add = `INSERT INTO ${vec}(rowid, ${quoted(name)}) SELECT new."_id", new.${quoted(name)} WHERE new.${quoted(name)} IS NOT NULL;`
  const remove = `DELETE FROM ${vec} WHERE rowid = old."_id";`
  return [
    `CREATE VIRTUAL TABLE IF NOT EXISTS ${vec} USING vec0(${name} float[${dimensions}] distance_metric=cosine);`,
    ...triggers(sqlName, table, {insert: add, delete: remove, update: `${remove} ${add}`}),
  ]
}

const triggers = (name: string, {sqlName}: Table, bodies: {insert: string; delete: string; update: string}) =>
  (
    [
      ['ai', 'INSERT', bodies.insert],
      ['ad', 'DELETE', bodies.delete],
      ['au', 'UPDATE', bodies.update],
    ] as const
  ).map(
    ([suffix, event, body]) =>
      `CREATE TRIGGER IF NOT EXISTS ${quoted(`${name}_${suffix}`)} AFTER ${event} ON ${quoted(sqlName)} BEGIN ${body} END;`,
  )

/** The statement that fills an index created on a table with rows. */
export function backfill({sqlName, table, columns, style}: Index): string[] {
  if (style === 'search') return [`INSERT INTO ${quoted(sqlName)}(${quoted(sqlName)}) VALUES ('rebuild');`]
  if (style === 'btree') return []
  const name = quoted(columns[0]?.name ?? '')
  return [
    `INSERT INTO ${quoted(sqlName)}(rowid, ${name}) SELECT "_id", ${name} FROM ${quoted(table.sqlName)} WHERE ${name} IS NOT NULL;`,
  ]
}

/** Tables in source order, then indexes in source order. */
export const ddl = ({tables, indexes}: Program): string[] => [
  ...tables.map((table) => createTable(table)),
  ...indexes.flatMap(createIndex),
]
