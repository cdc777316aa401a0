import {Flags} from '@oclif/core'
import {maxDurationMs, readDuration, readMoment} from '../config/index.js'
import {SvcError} from '../errors/index.js'

/** A duration, parsed to ms. */
export const durationFlag = Flags.custom<number, {minMs?: number; maxMs?: number}>({
  helpValue: 'DURATION',
  parse: async (value, _, {name, minMs = 0, maxMs = maxDurationMs}) => {
    const ms = readDuration(value)
    if (ms !== undefined && ms >= minMs && ms <= maxMs) return ms
    const limit = ms === undefined || ms < minMs ? '' : ` of at most ${Math.floor(maxMs / dayMs)} days`
    throw new SvcError('flag_value', {flag: `--${name}`, value, expected: `a duration${limit} such as 10m, 2h or 30d`})
  },
})

const dayMs = 86_400_000

/** A point in time, parsed to Unix ms: a date and time (local time without a zone), or `+` and a duration from now. */
export const momentFlag = Flags.custom<number>({
  helpValue: 'TIME',
  parse: async (value, _, {name}) => {
    const ms = readMoment(value, Date.now())
    if (ms !== undefined) return ms
    const expected = 'a time until the year 9999 such as 2026-12-01T08:00, or a duration from now such as +2h'
    throw new SvcError('flag_value', {flag: `--${name}`, value, expected})
  },
})

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
