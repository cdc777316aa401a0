import type {Column, Included} from '../check/index.js'
import type {Plan} from '../plan/index.js'
import {rowDecoder} from './bind.js'
import type {Rows} from './connection.js'

/** Decodes a row and the rows that it includes. */
export function decoderOf({columns, chain: {included}}: Plan): (row: Rows) => Rows {
  const decode = rowDecoder(columns)
  const readers = included.map((each) => [each.name, includedReader(each)] as const)
  return (row) => {
    decode(row)
    for (const [name, read] of readers) row[name] = read(row[name])
    return row
  }
}

/** Reads rows that SQLite returns as JSON: arrays of the values of their columns. */
function includedReader({table, how}: Included): (json: unknown) => unknown {
  const columns = [table.id, ...table.columns]
  const decode = rowDecoder(columns)
  const read = (values: unknown[]) =>
    decode(Object.fromEntries(columns.map((column, i) => [column.name, storedValue(column, values[i])])))
  return (json) => {
    const parsed = JSON.parse(String(json ?? null)) as unknown[] | null
    return how === 'many' || parsed === null ? ((parsed as unknown[][] | null)?.map(read) ?? null) : read(parsed)
  }
}

/** Bytes are hexadecimal in JSON. */
const storedValue = ({storage}: Column, value: unknown): unknown =>
  storage === 'blob' && typeof value === 'string' ? Buffer.from(value, 'hex') : value
