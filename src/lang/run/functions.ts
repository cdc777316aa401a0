import type {Database} from 'better-sqlite3'
import {calculateDecimals} from './decimal.js'
import {Failure} from './failure.js'

/** Defines the SQL functions that statements of programs use. */
export function defineFunctions(database: Database): void {
  const deterministic = {deterministic: true}
  database.function('svc_int_add', deterministic, addIntegers)
  database.function('svc_float_add', deterministic, addFloats)
  database.function('svc_dec_add', deterministic, (a: unknown, b: unknown) =>
    calculateDecimals(String(a), '+', String(b)),
  )
}

/** @throws Failure INT_OVERFLOW */
function addIntegers(a: unknown, b: unknown): bigint {
  const sum = Number(a) + Number(b)
  if (Number.isSafeInteger(sum)) return BigInt(sum)
  throw new Failure('INT_OVERFLOW', `the sum of ${String(a)} and ${String(b)} exceeds ±${Number.MAX_SAFE_INTEGER}`)
}

/** @throws Failure NOT_STORABLE */
function addFloats(a: unknown, b: unknown): number {
  const sum = Number(a) + Number(b)
  if (Number.isFinite(sum)) return sum
  throw new Failure('NOT_STORABLE', `the sum of ${String(a)} and ${String(b)} is not finite`)
}
