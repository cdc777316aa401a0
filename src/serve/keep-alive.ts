import {parseDuration} from '../config/index.js'
import type {Fields} from './body.js'

/** How long a model stays loaded after a reply, in ms. */
export type KeepAlive = number | 'forever'

/** Beyond what 64 bits of nanoseconds hold, about 292 years, a duration is for ever. */
const longestMs = 2 ** 63 / 1e6

/**
 * A number of seconds, or a duration such as `10m` or `1h30m`; what is negative lasts for ever.
 * @throws bad_request
 */
export function readKeepAlive(fields: Fields): KeepAlive | undefined {
  const value = fields.get('keep_alive')
  if (value === undefined) return undefined
  const ms = typeof value === 'string' ? parseDuration(value) : typeof value === 'number' ? value * 1000 : Number.NaN
  if (Number.isNaN(ms)) throw fields.wrong('keep_alive', 'be a number of seconds or a duration such as "10m"')
  return ms < 0 || ms > longestMs ? 'forever' : ms
}
