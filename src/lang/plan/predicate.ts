import {type Column, isEnum, type Predicate, storageOf, type Table, type Visitor, visit} from '../check/index.js'
import {columnValue, decimalKey, type Encoding, keyOf, pathOf, quoted, type SqlWriter, storedEncoding} from './sql.js'

const comparisons = {eq: '=', neq: '<>', lt: '<', lte: '<=', gt: '>', gte: '>='} as const
/** NULL-safe operators, for nullable columns. */
const nullSafe = {eq: 'IS', neq: 'IS NOT'} as const

type Group = Predicate & {kind: 'and' | 'or'}
type Comparing = Predicate & {kind: keyof typeof comparisons}

/** Replaces groups with a single part by that part, recursively. */
export function simplify(predicate: Predicate): Predicate {
  if (predicate.kind === 'not' || predicate.kind === 'maybe' || predicate.kind === 'refers')
    return {...predicate, arg: simplify(predicate.arg)}
  if (predicate.kind !== 'and' && predicate.kind !== 'or') return predicate
  const args = predicate.args.map(simplify)
  const [only] = args
  return args.length === 1 && only !== undefined ? only : {kind: predicate.kind, args}
}

/** Whether a predicate holds for every row. */
export const isTrivial = (predicate: Predicate | undefined): boolean =>
  predicate === undefined || (predicate.kind === 'and' && predicate.args.length === 0)

/** The context of a predicate. `nested`: a group needs parentheses. */
interface Writing {
  sql: SqlWriter
  table: Table
  nested: boolean
}

/** Writes a simplified predicate: the outermost group without parentheses, nested ones with. */
export function writePredicate(sql: SqlWriter, table: Table, predicate: Predicate, nested = false): void {
  visit(predicate, writers, {sql, table, nested})
}

const writers: Visitor<Predicate, void, Writing> = {
  and: writeGroup,
  or: writeGroup,
  not: ({arg}, {sql, table}) => {
    sql.add('(')
    writePredicate(sql, table, arg)
    sql.add(') IS NOT TRUE')
  },
  eq: writeComparison,
  neq: writeComparison,
  lt: writeComparison,
  lte: writeComparison,
  gt: writeComparison,
  gte: writeComparison,
  in: writeIn,
  is_null: writeIsNull,
  contains: writeContains,
  starts_with: writeStartsWith,
  maybe: ({value, arg}, {sql, table}) => {
    sql.add('(').param(value, 'presence').add(' IS NULL OR ')
    writePredicate(sql, table, arg, true)
    sql.add(')')
  },
  refers: ({column, table, arg}, {sql}) => {
    sql.add(`${columnValue(column)} IN (SELECT "_id" FROM ${quoted(table.sqlName)} WHERE `)
    writePredicate(sql, table, arg)
    sql.add(')')
  },
  matches: writeMatches,
  near: () => {
    throw new Error('near is planned as a ranking, not as a predicate')
  },
}

function writeGroup({kind, args}: Group, {sql, table, nested}: Writing): void {
  if (args.length === 0) {
    sql.add(kind === 'and' ? '1' : '0')
    return
  }
  if (nested) sql.add('(')
  for (const [i, arg] of args.entries()) {
    if (i > 0) sql.add(kind === 'and' ? ' AND ' : ' OR ')
    writePredicate(sql, table, arg, true)
  }
  if (nested) sql.add(')')
}

const isDecimal = ({base}: Column) => base.kind === 'dec'

/** The encoding of a value that is compared with the key of a column. */
export function keyEncoding(column: Column): Encoding {
  return isDecimal(column) ? 'decimal' : storedEncoding(column)
}

/** The encoding of a list of values that are compared with the key of a column. */
function keysEncoding(column: Column): Encoding {
  if (column.storage === 'millis') return 'millis_list'
  if (isDecimal(column)) return 'decimals'
  return isEnum(column.base) ? 'tags' : 'json'
}

function writeComparison({kind, column, value}: Comparing, {sql}: Writing): void {
  const isNullSafe = column.nullable && (kind === 'eq' || kind === 'neq')
  sql.add(`${keyOf(column)} ${isNullSafe ? nullSafe[kind] : comparisons[kind]} `).param(value, keyEncoding(column))
}

function writeIn({column, values}: Predicate & {kind: 'in'}, {sql}: Writing): void {
  sql.add(`${keyOf(column)} IN (`)
  if ('kind' in values && column.storage === 'blob')
    sql.add('SELECT unhex("value") FROM json_each(').param(values, 'hexes').add(')')
  else if ('kind' in values) sql.add('SELECT "value" FROM json_each(').param(values, keysEncoding(column)).add(')')
  else
    for (const [i, value] of values.entries()) {
      if (i > 0) sql.add(', ')
      sql.param(value, keyEncoding(column))
    }
  sql.add(')')
}

function writeIsNull({column, value}: Predicate & {kind: 'is_null'}, {sql}: Writing): void {
  const name = columnValue(column)
  if (typeof value === 'boolean') sql.add(`${name} IS ${value ? '' : 'NOT '}NULL`)
  else sql.add(`(${name} IS NULL) = `).param(value, 'integer')
}

function writeContains({column, value}: Predicate & {kind: 'contains'}, {sql, table}: Writing): void {
  const {within} = column
  const name = columnValue(column)
  if (column.storage !== 'json') {
    sql.add(`${name} LIKE '%' || `).param(value, 'like').add(" || '%' ESCAPE '\\'")
    return
  }
  const element = elementEncoding(column)
  const held = element === 'decimal' ? decimalKey('"j"."value"') : '"j"."value"'
  sql.add(
    `EXISTS (SELECT 1 FROM json_each(${quoted(table.sqlName)}.${within === undefined ? name : pathOf(within)}) AS "j" WHERE ${held} = `,
  )
  sql.param(value, element).add(')')
}

/** A range, so that an index can be used: the byte FF follows every character of UTF-8. */
function writeStartsWith({column, value}: Predicate & {kind: 'starts_with'}, {sql, nested}: Writing): void {
  const name = columnValue(column)
  if (nested) sql.add('(')
  sql.add(`${name} >= `).param(value, 'text').add(` AND ${name} < `).param(value, 'text').add(` || CAST(X'FF' AS TEXT)`)
  if (nested) sql.add(')')
}

/** The encoding of list elements in JSON. */
function elementEncoding({base}: Column): Encoding {
  if ('of' in base && base.of.kind === 'dec') return 'decimal'
  if ('of' in base && isEnum(base.of)) return 'json'
  const storage = 'of' in base ? storageOf(base.of) : 'text'
  if (storage === 'millis') return 'text'
  return storage === 'blob' ? 'base64' : storage
}

function writeMatches({column, value, index}: Predicate & {kind: 'matches'}, {sql}: Writing): void {
  const name = quoted(column.name)
  if (index === undefined) {
    // Without an index, every term must be a substring of the text.
    sql.add(`(${name} IS NOT NULL AND json_array_length(`).param(value, 'terms')
    sql.add(') > 0 AND NOT EXISTS (SELECT 1 FROM json_each(').param(value, 'terms')
    sql.add(`) AS "j" WHERE ${name} NOT LIKE '%' || "j"."value" || '%' ESCAPE '\\'))`)
    return
  }
  const fts = quoted(index.sqlName)
  sql.add(`"_id" IN (SELECT rowid FROM ${fts} WHERE ${fts} MATCH `).param(value, {matchIn: column.name}).add(')')
}
