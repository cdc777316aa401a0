import {parseDuration} from '../config/index.js'
import type {Fields} from './body.js'

/** How long a model stays loaded after a reply, ms. */
export type KeepAlive = number | 'forever'

/** A duration that overflows 64-bit nanoseconds, about 292 years, counts as forever. */
const maxMs = 2 ** 63 / 1e6

/**
 * Reads a number of seconds, or a duration such as `10m` or `1h30m`; a negative one is forever.
 * @throws bad_request
 */
export function readKeepAlive(fields: Fields): KeepAlive | undefined {
  const value = fields.get('keep_alive')
  if (value === undefined) return undefined
  const ms = typeof value === 'string' ? parseDuration(value) : typeof value === 'number' ? value * 1000 : Number.NaN
  if (Number.isNaN(ms)) throw fields.wrong('keep_alive', 'be a number of seconds or a duration such as "10m"')
  return ms < 0 || ms > maxMs ? 'forever' : ms
}
