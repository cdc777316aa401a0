import type {Column} from '../check/index.js'
import {binder, decoder} from '../run/index.js'

/** A JSON value as the SQL literal that a column would store. @throws TypeMismatch */
export function literalOf({type, storage}: Column, json: unknown): string {
  const bound = binder(storage)(decoder(type)(json))
  if (bound === null) return 'NULL'
  if (typeof bound === 'string') return `'${bound.replaceAll("'", "''")}'`
  return Buffer.isBuffer(bound) ? `X'${bound.toString('hex')}'` : String(bound)
}

/** What a required column holds that nobody gave a value, as JSON; undefined where a type has no such value. */
export function zeroOf({base}: Column): unknown {
  switch (base.kind) {
    case 'int':
    case 'id':
    case 'float':
      return 0
    case 'bool':
      return false
    case 'str':
    case 'bytes':
      return ''
    case 'dec':
      return '0'
    case 'list':
    case 'set':
      return []
    case 'map':
      return {}
    case 'json':
      return null
    default:
      return undefined
  }
}
