import type {Database} from 'better-sqlite3'
import {averageDecimals, calculateDecimals, compareDecimals} from './decimal.js'
import {Failure} from './failure.js'

/** Defines the SQL functions that statements of programs use. */
export function defineFunctions(database: Database): void {
  const deterministic = {deterministic: true}
  database.function('svc_int_add', deterministic, addIntegers)
  database.function('svc_float_add', deterministic, addFloats)
  database.function('svc_dec_add', deterministic, (a: unknown, b: unknown) =>
    calculateDecimals(String(a), '+', String(b)),
  )
  defineAggregates(database)
}

/** Aggregates of decimals, which ignore NULL. */
function defineAggregates(database: Database): void {
  const aggregate = (name: string, start: string | null, step: (total: string, next: string) => string) =>
    database.aggregate(name, {
      deterministic: true,
      start,
      step: (total: string | null, next: unknown) =>
        typeof next !== 'string' ? total : total === null ? next : step(total, next),
    })
  aggregate('svc_dec_sum', '0', (total, next) => calculateDecimals(total, '+', next))
  aggregate('svc_dec_min', null, (least, next) => (compareDecimals(next, least) < 0 ? next : least))
  aggregate('svc_dec_max', null, (most, next) => (compareDecimals(next, most) > 0 ? next : most))
  database.aggregate('svc_dec_avg', {
    deterministic: true,
    start: () => [] as string[],
    step: (items: string[], next: unknown) => {
      if (typeof next === 'string') items.push(next)
      return items
    },
    result: (items: string[]) => (items.length === 0 ? null : averageDecimals(items)),
  })
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
