import type {Database} from 'better-sqlite3'
import {type Column, isEnum, isTime, storageOf, type Table, type Type, writeDuration} from '../check/index.js'
import {sqlType} from '../emit/index.js'
import {storedEncoding} from '../plan/index.js'
import {type Bound, binder, decoder, isObject, TypeMismatch, toJson, type Value} from '../run/index.js'
import {declaredType} from './declared.js'
import {type LiveColumn, quotedAny} from './live-schema.js'
import {hasRenamedVariants, renameVariants} from './variants.js'

/** Marks a stored value that cannot be converted to the new type. */
export const misfit = Symbol('misfit')

/**
 * Converts a stored value to another type if that is lossless.
 * @param cast the value, cast by SQLite to the storage class of the new column
 */
export type Conversion = (stored: unknown, cast: unknown) => Bound | typeof misfit

/** How the values of a type are stored in a live column. Earlier versions stored variants without fields as JSON. */
export const storedAs = (type: Type, {constraints}: LiveColumn): Column['storage'] =>
  isEnum(type) && !constraints.some((each) => /^CHECK \("\w+" IN \(/.test(each)) ? 'json' : storageOf(type)

/** Whether a live column contains JSON. */
const holdsJson = ({base}: Column, found: LiveColumn): boolean =>
  storedAs(declaredType(found) ?? base, found) === 'json'

/** Whether the values of a live column are JSON, or no longer JSON, for the program. */
export const isRecoded = (column: Column, found: LiveColumn): boolean =>
  holdsJson(column, found) !== (column.storage === 'json')

/** Whether the stored bytes of a valid value stay unchanged. */
export const keepsStored = (column: Column, found: LiveColumn): boolean => {
  const from = declaredType(found)
  if (isTime(column.base) || from?.kind === 'duration') return from?.kind === column.base.kind
  return found.type === sqlType(column) && !isRecoded(column, found) && !hasRenamedVariants(column.base)
}

export function conversion(column: Column, found: LiveColumn): Conversion {
  const from = declaredType(found)
  const decodeNew = decoder(column.base)
  const rename = renameVariants(column.base)
  const decode = (json: unknown) => decodeNew(rename(json))
  const bind = binder(storedEncoding(column))
  const isJson = column.storage === 'json'
  const wasJson = holdsJson(column, found)
  /** Converts a JSON value to a value of the column. */
  const fromJson = (json: unknown) => bind(decode(json))
  if (wasJson && isJson)
    return attempt((stored) => {
      const json = rename(JSON.parse(String(stored)))
      const fresh = fromJson(json)
      return isSame(json, JSON.parse(String(fresh))) ? fresh : misfit
    })
  if (wasJson) return attempt((stored) => fromJson(JSON.parse(String(stored))))
  // A duration is stored as a number that is not its JSON form.
  if (isJson || column.storage === 'millis' || from?.kind === 'duration') {
    const read = from === undefined ? (stored: unknown) => stored : scalarOf(from)
    return attempt((stored) => fromJson(toJson(read(stored))))
  }
  return attempt((stored, cast) => {
    if (!isSameScalar(column, stored, cast)) return misfit
    return bind(scalarDecoder(column.base, decode)(cast))
  })
}

/** Returns `misfit` for a value of the wrong type and for invalid JSON. */
const attempt =
  (convert: Conversion): Conversion =>
  (stored, cast) => {
    try {
      return convert(stored, cast)
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof TypeMismatch) return misfit
      throw error
    }
  }

/** Decodes bool, bytes and variants without fields, whose stored form differs from their JSON form. */
const scalarDecoder =
  ({kind}: Type, decode: (json: unknown) => Value) =>
  (stored: unknown): Value => {
    if (kind === 'sum') return decode({_tag: stored})
    if (kind === 'bool') return decode(stored === 0 || stored === 1 ? stored === 1 : stored)
    return stored instanceof Uint8Array && kind === 'bytes' ? stored : decode(stored)
  }

const scalarOf =
  ({kind}: Type) =>
  (stored: unknown): Value => {
    if (kind === 'sum') return {_tag: stored}
    if (kind === 'duration') return writeDuration(Number(stored))
    return kind === 'bool' ? stored !== 0 : stored
  }

/** Whether a cast to another storage class was lossless. */
function isSameScalar({storage}: Column, old: unknown, fresh: unknown): boolean {
  if (typeof old === 'number' && typeof fresh === 'string') return Number(fresh) === old
  if (old instanceof Uint8Array && fresh instanceof Uint8Array) return Buffer.compare(old, fresh) === 0
  if (typeof old !== 'string' || typeof fresh !== 'number') return fresh === old
  return storage === 'integer' ? String(fresh) === old : old.trim() !== '' && Number(old) === fresh
}

/** Whether two JSON values are equal; a null member equals a missing one. */
function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i]))
  if (!isObject(a)) return a === b || (a ?? null) === (b ?? null)
  if (!isObject(b) || Array.isArray(b)) return false
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => isSame(a[key], b[key]))
}

const maxNamed = 10

/** Rows whose value is not of the column's type. */
export interface Misfits {
  count: number
  /** The ids of the first such rows. */
  ids: number[]
}

/** Checks every value of a column. */
export function misfitsOf(database: Database, table: Table, column: Column, found: LiveColumn): Misfits {
  const convert = conversion(column, found)
  const {table: name, column: stored} = found.stored ?? {table: table.sqlName, column: found.name}
  const old = quotedAny(stored)
  const values = database.prepare<[], {id: number; old: unknown; fresh: unknown}>(
    `SELECT "_id" AS id, ${old} AS old, CAST(${old} AS ${sqlType(column)}) AS fresh FROM ${quotedAny(name)} WHERE ${old} IS NOT NULL`,
  )
  const misfits: Misfits = {count: 0, ids: []}
  for (const {id, old, fresh} of values.iterate()) {
    if (convert(old, fresh) !== misfit) continue
    misfits.count++
    if (misfits.ids.length < maxNamed) misfits.ids.push(id)
  }
  return misfits
}

/** `row 3`, `rows 3, 4, …` */
export const nameRows = (ids: readonly number[], count = ids.length): string =>
  `${count === 1 ? 'row' : 'rows'} ${ids.join(', ')}${count > ids.length ? ', …' : ''}`
