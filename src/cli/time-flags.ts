import {Flags} from '@oclif/core'
import {parseDuration} from '../config/index.js'
import {SvcError} from '../errors/index.js'

/** A length of time, in ms. */
export const durationFlag = Flags.custom<number, {longestMs?: number}>({
  helpValue: 'DURATION',
  parse: async (value, _, {name, longestMs = Number.MAX_SAFE_INTEGER}) => {
    const ms = Math.round(parseDuration(value.trim()))
    if (ms >= 0 && ms <= longestMs) return ms
    const most = longestMs === Number.MAX_SAFE_INTEGER ? '' : ` of at most ${Math.floor(longestMs / dayMs)} days`
    throw new SvcError('flag_value', {flag: `--${name}`, value, expected: `a duration${most} such as 10m, 2h or 30d`})
  },
})

const dayMs = 86_400_000
