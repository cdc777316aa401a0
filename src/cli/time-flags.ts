import {Flags} from '@oclif/core'
import {parseDuration} from '../config/index.js'
import {SvcError} from '../errors/index.js'

/** A duration, parsed to ms. */
export const durationFlag = Flags.custom<number, {leastMs?: number; longestMs?: number}>({
  helpValue: 'DURATION',
  parse: async (value, _, {name, leastMs = 0, longestMs = Number.MAX_SAFE_INTEGER}) => {
    const ms = Math.round(parseDuration(value.trim()))
    if (ms >= leastMs && ms <= longestMs) return ms
    const limit = longestMs === Number.MAX_SAFE_INTEGER ? '' : ` of at most ${Math.floor(longestMs / dayMs)} days`
    throw new SvcError('flag_value', {flag: `--${name}`, value, expected: `a duration${limit} such as 10m, 2h or 30d`})
  },
})

const dayMs = 86_400_000

/** `2026-12-01`, `2026-12-01T08:00` or `2026-12-01 08:00:30`, with or without a time zone. */
const momentPattern = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)?)?$/

/** A point in time, parsed to Unix ms: a date and time (local time without a zone), or `+` and a duration from now. */
export const momentFlag = Flags.custom<number>({
  helpValue: 'TIME',
  parse: async (value, _, {name}) => {
    const ms = value.startsWith('+') ? Date.now() + Math.round(parseDuration(value)) : parseMoment(value.trim())
    if (Number.isSafeInteger(ms)) return ms
    const expected = 'a time such as 2026-12-01T08:00, or a duration from now such as +2h'
    throw new SvcError('flag_value', {flag: `--${name}`, value, expected})
  },
})

function parseMoment(text: string): number {
  const [, year, month, day, time = '00:00', zone = ''] = momentPattern.exec(text) ?? []
  // `Date.UTC` rolls an invalid day such as 31 April over to the next month.
  const isDay = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day)
  return isDay ? Date.parse(`${year}-${month}-${day}T${time}${zone}`) : Number.NaN
}

/** `90`, `90.5`, `1:30` or `01:01:30.5`. */
const positionPattern = /^(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d+)?)$/

/** A position or length of a recording, parsed to seconds. */
export const positionFlag = Flags.custom<number>({
  helpValue: 'SEC|[HH:]MM:SS',
  parse: async (value, _, {name}) => {
    const found = positionPattern.exec(value.trim())
    if (found === null)
      throw new SvcError('flag_value', {flag: `--${name}`, value, expected: 'seconds or a time such as 1:30'})
    const [, hours = 0, minutes = 0, seconds = 0] = found
    return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
  },
})
