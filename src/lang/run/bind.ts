import {type Column, durationMs, writeDuration} from '../check/index.js'
import type {Encoding} from '../plan/index.js'
import {cursorKey} from './cursor.js'
import {decimalKey} from './decimal.js'
import {type Decoder, decoder, TypeMismatch} from './decode.js'
import {DatabaseFailure, Failure} from './failure.js'
import {isTagged, toJson, type Value} from './value.js'

/** A value that SQLite can bind. */
export type Bound = bigint | number | string | Buffer | null
export type Binder = (value: Value) => Bound

const notStorable = (value: Value, as: string): never => {
  throw new Failure(
    'NOT_STORABLE',
    `${typeof value === 'number' ? value : `a value of type ${typeof value}`} cannot be stored as ${as}`,
  )
}

/** Converts to bigint, because the driver binds every number as a double. */
const integer = (value: Value): bigint => {
  if (typeof value === 'boolean') return value ? 1n : 0n
  return Number.isSafeInteger(value) ? BigInt(value as number) : notStorable(value, 'an integer')
}

const text = (value: Value): string => (typeof value === 'string' ? value : notStorable(value, 'text'))
const real = (value: Value): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : notStorable(value, 'a number')
const escapeLike = (value: string) => value.replace(/[\\%_]/g, '\\$&')
/** Search terms: words that contain a letter or a digit. */
const terms = (value: Value) =>
  text(value)
    .split(/[\s\0]+/)
    .filter((term) => /[\p{L}\p{N}]/u.test(term))
/** @throws DatabaseFailure if the text contains NUL, which would terminate the LIKE pattern */
const needle = (value: Value): string => {
  const found = text(value)
  if (found.includes('\0')) throw new DatabaseFailure('input', 'the search text contains a NUL character')
  return escapeLike(found)
}
const atLeast = (min: number, max: number) => (value: Value) => {
  if (!Number.isSafeInteger(value)) return notStorable(value, 'a count')
  return BigInt(Math.min(max, Math.max(min, value as number)))
}
const bytes = (value: Value): Buffer => (value instanceof Uint8Array ? Buffer.from(value) : notStorable(value, 'bytes'))

/** Maximum number of neighbours that sqlite-vec returns. */
const maxNeighbours = 4096
/** Minimum number of neighbours in a rank fusion. */
const minCandidates = 50

const tagOf = (value: Value): string => (isTagged(value) ? value._tag : notStorable(value, 'a variant'))

const binders: Readonly<Record<Exclude<Encoding, object>, Binder>> = {
  integer,
  real,
  text,
  blob: bytes,
  base64: (value) => bytes(value).toString('base64'),
  decimal: (value) => decimalKey(text(value)),
  decimals: (value) => JSON.stringify((value as readonly Value[]).map((item) => decimalKey(text(item)))),
  tag: tagOf,
  tags: (value) => JSON.stringify((value as readonly Value[]).map(tagOf)),
  millis: (value) => integer(durationMs(text(value))),
  millis_list: (value) => JSON.stringify((value as readonly Value[]).map((item) => durationMs(text(item)))),
  hexes: (value) => JSON.stringify((value as readonly Value[]).map((item) => bytes(item).toString('hex'))),
  json: (value) => JSON.stringify(toJson(value)),
  like: needle,
  terms: (value) => JSON.stringify(terms(value).map(escapeLike)),
  presence: () => 1n,
  page: (value) => (atLeast(1, Number.MAX_SAFE_INTEGER - 1)(value) as bigint) + 1n,
  count: atLeast(0, Number.MAX_SAFE_INTEGER),
  neighbours: atLeast(1, maxNeighbours),
  candidates: atLeast(minCandidates, maxNeighbours),
}

/** @throws DatabaseFailure if the length of a vector differs from the dimensions of its index */
function requireLength(found: number, dimensions: number): void {
  if (found === dimensions) return
  throw new DatabaseFailure('input', `expected a vector of ${dimensions} numbers, found ${found}`)
}

const vector =
  (length: number): Binder =>
  (value) => {
    if (!Array.isArray(value)) return notStorable(value, 'a vector')
    requireLength(value.length, length)
    const floats = Float32Array.from(value as number[])
    return Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength)
  }

/** Binds a value of a column with a vector index, after checking its length. */
const indexed =
  (storage: Column['storage'] | 'tag', length: number): Binder =>
  (value) => {
    requireLength(value instanceof Uint8Array ? value.length / 4 : (value as readonly Value[]).length, length)
    return binders[storage](value)
  }

/** All terms, quoted and joined by AND, in one column. Source: SQLite FTS5 documentation, section 3. */
const searchQuery =
  (column: string): Binder =>
  (value) => {
    const phrases = terms(value).map((term) => `"${term.replaceAll('"', '""')}"`)
    return `"${column}" : (${phrases.length === 0 ? '""' : phrases.join(' AND ')})`
  }

function binderOf(encoding: Encoding): Binder {
  if (typeof encoding !== 'object') return binders[encoding]
  if ('cursor' in encoding) return cursorKey(encoding)
  if ('matchIn' in encoding) return searchQuery(encoding.matchIn)
  return 'storage' in encoding ? indexed(encoding.storage, encoding.vector) : vector(encoding.vector)
}

/** The function that binds values of an encoding. None is NULL. */
export function binder(encoding: Encoding): Binder {
  const bind = binderOf(encoding)
  return (value) => (value === null || value === undefined ? null : bind(value))
}

type Row = Record<string, unknown>

/** Converts an SQLite row to a row of the language, in place; undefined if no column needs conversion. */
export function rowDecoder(columns: readonly Column[]): (row: Row) => Row {
  const readers = columns.map((column) => [column.name, reader(column)] as const)
  return (row) => {
    for (const [name, read] of readers) {
      const value = row[name]
      const turned = read(value)
      if (turned !== value) row[name] = turned
    }
    return row
  }
}

function reader({name, base, nullable, storage}: Column): (stored: unknown) => Value {
  const damaged = (): never => {
    throw new Failure('DB_DECODE', `column '${name}' contains a value of the wrong type`)
  }
  const read = storedReader(base.kind, storage, decoder(base), damaged)
  return (stored) => {
    if (stored === null) return nullable ? null : damaged()
    return read(stored)
  }
}

function storedReader(kind: string, storage: Column['storage'], decode: Decoder, damaged: () => never) {
  switch (storage) {
    case 'integer':
      if (kind === 'bool') return (stored: unknown) => (typeof stored === 'number' ? stored !== 0 : damaged())
      return (stored: unknown) => (Number.isSafeInteger(stored) ? stored : damaged())
    case 'millis':
      return (stored: unknown) => (typeof stored === 'number' ? (writeDuration(stored) ?? damaged()) : damaged())
    case 'real':
      return (stored: unknown) => (typeof stored === 'number' ? stored : damaged())
    case 'text':
      if (kind === 'sum') return (stored: unknown) => decoded(() => decode({_tag: stored}), damaged)
      return (stored: unknown) => (typeof stored === 'string' ? stored : damaged())
    case 'blob':
      return (stored: unknown) => (stored instanceof Uint8Array ? stored : damaged())
    case 'json':
      return (stored: unknown) =>
        typeof stored === 'string' ? decoded(() => decode(JSON.parse(stored)), damaged) : damaged()
  }
}

/** Decodes a stored value that may be damaged. */
function decoded(decode: () => Value, damaged: () => never): Value {
  try {
    return decode()
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeMismatch) return damaged()
    throw error
  }
}
