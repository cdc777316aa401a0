import {type Column, type Ir, isEnum} from '../check/index.js'

/**
 * How a value is bound, as one of:
 *
 * - the storage class of a column
 * - base64, or a list of hexadecimal strings
 * - a list of durations as integers
 * - the key of a decimal number, or a list of such keys
 * - the name of a variant without fields, or a list of such names
 * - a LIKE pattern, a JSON list of terms, or a non-negative count
 * - a positive count and one more
 * - NULL for None, and 1 for every other value
 * - the search terms of one column
 * - a vector of a given length, also if stored in a column
 */
export type Encoding =
  | Column['storage']
  | 'base64'
  | 'decimal'
  | 'decimals'
  | 'hexes'
  | 'millis_list'
  | 'tag'
  | 'tags'
  | 'like'
  | 'terms'
  | 'count'
  | 'page'
  | 'neighbours'
  | 'candidates'
  | 'presence'
  | {matchIn: string}
  /** A sort key in a cursor, of the order that `of` names. */
  | {cursor: number; of: string; encoding: string}
  | {vector: number}
  | {vector: number; storage: Column['storage'] | 'tag'}

export interface Param {
  value: Ir
  /** The bound field, if the value is a record. */
  field?: string
  encoding: Encoding
}

/** Builds SQL text piece by piece; parameters are in text order. */
export class SqlWriter {
  text = ''
  readonly params: Param[] = []

  add(text: string): this {
    this.text += text
    return this
  }

  param(value: Ir, encoding: Encoding): this {
    this.params.push({value, encoding})
    return this.add('?')
  }
}

/** An identifier in double quotes. Names of the language contain only letters, digits and underscores. */
export const quoted = (name: string): string => `"${name}"`

/** The SQL by which a column is compared and indexed: its value, or the sort key of a decimal number. */
export function keyOf(column: Column): string {
  const {base, within} = column
  if (base.kind === 'dec') return decimalKey(columnValue(column))
  return isEnum(base) && within !== undefined ? `json_extract(${pathOf(within, ['_tag'])})` : columnValue(column)
}

/** The SQL by which rows are ordered. Variants have the order in which they are declared. */
export function orderOf(column: Column): string {
  const {base} = column
  if (base.kind !== 'sum') return keyOf(column)
  const positions = base.sum.variants.map((variant, i) => `WHEN '${variant.name}' THEN ${i}`)
  return `CASE ${keyOf(column)} ${positions.join(' ')} END`
}

/** The SQL of the value of a column, or of a member of a JSON column. */
export function columnValue({name, base, within}: Column): string {
  if (within === undefined) return quoted(name)
  const path = pathOf(within)
  const value = `json_extract(${path})`
  if (!within.isUntyped) return value
  // A member of another type is not equal to any value, although SQLite represents true as 1.
  if (base.kind === 'bool') return `CASE json_type(${path}) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END`
  if (base.kind === 'str') return `CASE json_type(${path}) WHEN 'text' THEN ${value} END`
  return base.kind === 'unknown' ? value : `CASE WHEN json_type(${path}) IN ('integer','real') THEN ${value} END`
}

/** The arguments that name a member of JSON. */
export function pathOf({column, path}: NonNullable<Column['within']>, more: readonly string[] = []): string {
  const members = [...path, ...more].map((member) =>
    /^[A-Za-z_]\w*$/.test(member) ? `.${member}` : `."${member.replaceAll("'", "''")}"`,
  )
  return `${quoted(column)},'$${members.join('')}'`
}

/** The encoding of a value that is stored in a column. */
export const storedEncoding = ({base, storage}: Column): Column['storage'] | 'tag' => (isEnum(base) ? 'tag' : storage)

/**
 * SQL for a sort key of a decimal number stored as digits. Equal values have equal keys. A key is P, the number of
 * integer digits, these digits and the fraction digits. For a negative number it is N, the same with letters for
 * digits in reverse order, and a terminator that sorts last. `decimalKey` of the run time returns the same. Uses only
 * built-in functions, so that any program can write to a table with such an index.
 * @param digits SQL of the stored text
 */
export function decimalKey(digits: string): string {
  const point = `instr(${digits}||'.','.')`
  const integer = `ltrim(substr(${digits},1,${point}-1),'-0')`
  const size = `substr('000000'||length(${integer}),-7)||${integer}||rtrim(substr(${digits},${point}+1),'0')`
  const letters = [...'jihgfedcba'].reduce((sql, letter, digit) => `replace(${sql},'${digit}','${letter}')`, size)
  const isNegative = `substr(${digits},1,1)='-' AND trim(${digits},'-0.')<>''`
  return `CASE WHEN ${isNegative} THEN 'N'||${letters}||'~' ELSE 'P'||${size} END`
}
