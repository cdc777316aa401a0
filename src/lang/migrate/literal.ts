import {type Column, defaultOf, type Type} from '../check/index.js'
import {storedEncoding} from '../plan/index.js'
import {binder, decoder, pureValue, toJson} from '../run/index.js'

/** A JSON value as the SQL literal that a column would store. @throws TypeMismatch */
export function literalOf(column: Column, json: unknown): string {
  const bound = binder(storedEncoding(column))(decoder(column.type)(json))
  if (bound === null) return 'NULL'
  if (typeof bound === 'string') return `'${bound.replaceAll("'", "''")}'`
  return Buffer.isBuffer(bound) ? `X'${bound.toString('hex')}'` : String(bound)
}

/** The SQL literal of a column's default, if it is a constant. */
export function constantDefault(column: Column): string | undefined {
  const fallback = defaultOf(column)
  return fallback === undefined || (fallback.kind === 'builtin' && currentTimes.has(fallback.name))
    ? undefined
    : literalOf(column, toJson(pureValue(fallback)()))
}

/** The defaults that `now()` stands for. */
const currentTimes: ReadonlySet<string> = new Set(['std.time.now_ms', 'DateTime.now'])

/** The zero value of a required column as JSON; undefined if its type has none. */
export const zeroOf = ({base}: Column): unknown => zeros[base.kind]

const zeros: Partial<Record<Type['kind'], unknown>> = {
  int: 0,
  id: 0,
  float: 0,
  bool: false,
  str: '',
  bytes: '',
  dec: '0',
  duration: 'PT0S',
  list: [],
  set: [],
  map: {},
  json: null,
}
