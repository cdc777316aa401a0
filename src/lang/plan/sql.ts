import type {Column, Ir} from '../check/index.js'

/**
 * How a value of the language is bound: as a column's storage class, as base64 or a list of hexadecimal texts, as the
 * key of a decimal number or a list of them, as the needle of LIKE, as a JSON list of terms, as a count that is not
 * negative, as the search terms of one column, or as a vector of so many numbers, also one that is stored in a column.
 */
export type Encoding =
  | Column['storage']
  | 'base64'
  | 'decimal'
  | 'decimals'
  | 'hexes'
  | 'like'
  | 'terms'
  | 'count'
  | 'neighbours'
  | 'candidates'
  | {matchIn: string}
  | {vector: number}
  | {vector: number; storage: Column['storage']}

export interface Param {
  value: Ir
  /** Of a record, the field that is bound. */
  field?: string
  encoding: Encoding
}

/** SQL text that is put together piece by piece; its parameters come in the order of the text. */
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

/** An identifier in double quotes. Names of the language hold letters, digits and underscores alone. */
export const quoted = (name: string): string => `"${name}"`

/** What a column is compared, ordered and indexed by: its value, and of a decimal number the key of its value. */
export const keyOf = ({name, base}: Column): string => (base.kind === 'dec' ? decimalKey(quoted(name)) : quoted(name))

/**
 * SQL for text that sorts as the decimal numbers do whose digits are stored, and is the same for the same value: P, how
 * many digits stand before the point, these and those after it. Of a negative number it is N, the same with letters for
 * the digits, the greatest first, and an end that sorts after them. `decimalKey` of the run time gives the same. Built-in
 * functions alone, so that any program can write to a table with such an index.
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
