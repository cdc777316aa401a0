import type {Expression} from '../grammar.js'
import {lexeme} from '../json/text.js'
import {sequence, text} from '../pattern/build.js'
import {type Decimal, unitsAt} from './decimal.js'
import type {Bound} from './number-range.js'

interface Multiples {
  /** The numbers are multiples of it; not 0. */
  readonly of: Decimal
  readonly min?: Bound
  readonly max?: Bound
}

type MakeRule = (key: string, make: () => Expression) => Expression

/** A magnitude compared with a bound while its digits are read from the left. */
interface Limit {
  readonly whole: string
  /** Digits after the point, padded to the scale of the multiple or longer. */
  readonly fraction: string
  readonly exclusive: boolean
}

/** What is known of a magnitude after some of its digits. */
interface State {
  /** Digits before the point so far, at most one more than the longest limit has. */
  readonly count: number
  /** Digits after the point so far; -1 before the point. */
  readonly fraction: number
  readonly remainder: number
  /** Order of the digits so far and those of each limit. */
  readonly low: number
  readonly high: number
}

const empty: Expression = {kind: 'sequence', parts: []}
const none: Expression = {kind: 'either', options: []}

/**
 * Multiples of a decimal within a range, as one rule per remainder and comparison. A number of `scale` digits after the
 * point is a multiple if its digits, read as an integer and padded with zeros, have remainder 0.
 */
export function multiplesExpression({of, min, max}: Multiples, rule: MakeRule): Expression {
  const key = `multiples ${of.units}/${of.scale} ${boundKey(min)}..${boundKey(max)}`
  const positive = magnitudes(of, min?.value.units ?? -1n, min, max, `${key} +`, rule)
  const negative = magnitudes(
    of,
    max === undefined ? -1n : -max.value.units,
    max && mirror(max),
    min && mirror(min),
    `${key} -`,
    rule,
  )
  const parts = [positive, {kind: 'sequence', parts: [lexeme(text('-')), negative]} as const]
  return {kind: 'either', options: parts}
}

const mirror = ({value, exclusive}: Bound): Bound => ({value: {...value, units: -value.units}, exclusive})

const boundKey = (bound: Bound | undefined): string =>
  bound === undefined ? '' : `${bound.exclusive ? '!' : ''}${bound.value.units}/${bound.value.scale}`

/** Unsigned multiples from `min`, if it is positive or excludes 0, to `max`. */
function magnitudes(
  of: Decimal,
  sign: bigint,
  min: Bound | undefined,
  max: Bound | undefined,
  key: string,
  rule: MakeRule,
) {
  if (max !== undefined && max.value.units < 0n) return none
  const lowest = sign > 0n || (sign === 0n && min?.exclusive === true) ? min : undefined
  const low = lowest && limitOf(lowest, of.scale)
  const high = max && limitOf(max, of.scale)
  const modulus = Number(of.units)
  const maxLength = Math.max(low?.whole.length ?? 0, high?.whole.length ?? 0) + 1

  const isAccepting = ({count, fraction, remainder, low: l, high: h}: State): boolean => {
    const missing = of.scale - Math.max(fraction, 0)
    if ((remainder * Number(10n ** BigInt(missing) % of.units)) % modulus !== 0) return false
    const from = Math.max(fraction, 0)
    return (
      (low === undefined || isWithin(finalOrder(low, count, from, l), low.exclusive)) &&
      (high === undefined || isWithin(-finalOrder(high, count, from, h), high.exclusive))
    )
  }
  const step = (state: State, digit: number): State => {
    const inFraction = state.fraction >= 0
    const order = (limit: Limit | undefined, before: number): number => {
      if (limit === undefined || before !== 0) return before
      const expected = inFraction ? limit.fraction[state.fraction] : limit.whole[state.count]
      return expected === undefined ? 0 : Math.sign(digit - Number(expected))
    }
    return {
      count: inFraction ? state.count : Math.min(state.count + 1, maxLength),
      fraction: inFraction ? state.fraction + 1 : -1,
      remainder: (state.remainder * 10 + digit) % modulus,
      low: order(low, state.low),
      high: order(high, state.high),
    }
  }
  /** After the point, the order is that of the whole parts. */
  const atPoint = (state: State): State => ({
    ...state,
    fraction: 0,
    low: low === undefined ? 0 : wholeOrder(low, state.count, state.low),
    high: high === undefined ? 0 : wholeOrder(high, state.count, state.high),
  })
  const after = (state: State): Expression => {
    const {count, fraction, remainder, low: l, high: h} = state
    return rule(`${key} ${count} ${fraction} ${remainder} ${l} ${h}`, () => {
      const options: Expression[] = isAccepting(state) ? [empty] : []
      if (fraction < of.scale) options.push(...digitsFrom(0).map((digit) => read(digit, step(state, digit))))
      if (fraction < 0 && of.scale > 0) options.push(...fractionFrom(atPoint(state)))
      return {kind: 'either', options}
    })
  }
  const read = (digit: number, next: State): Expression => ({
    kind: 'sequence',
    parts: [lexeme(text(String(digit))), after(next)],
  })
  /** At least one digit follows the point. */
  const fractionFrom = (state: State): Expression[] =>
    digitsFrom(0).map((digit) => ({
      kind: 'sequence',
      parts: [lexeme(sequence(text('.'), text(String(digit)))), after(step(state, digit))],
    }))
  const start: State = {count: 0, fraction: -1, remainder: 0, low: 0, high: 0}
  const zero = zeroExpression(step(start, 0), isAccepting, of.scale > 0 ? fractionFrom(atPoint(step(start, 0))) : [])
  return {
    kind: 'either',
    options: [zero, ...digitsFrom(1).map((digit) => read(digit, step(start, digit)))],
  } as Expression
}

const digitsFrom = (first: number): number[] => Array.from({length: 10 - first}, (_, index) => index + first)

/** Numbers that start with `0`, which no further digit of the whole part follows. */
const zeroExpression = (state: State, isAccepting: (state: State) => boolean, fractions: Expression[]): Expression => ({
  kind: 'sequence',
  parts: [lexeme(text('0')), {kind: 'either', options: [...(isAccepting(state) ? [empty] : []), ...fractions]}],
})

function limitOf({value, exclusive}: Bound, scale: number): Limit {
  const at = Math.max(scale, value.scale)
  const units = unitsAt(value, at)
  const all = (units < 0n ? -units : units).toString().padStart(at + 1, '0')
  return {whole: all.slice(0, all.length - at), fraction: all.slice(all.length - at), exclusive}
}

/** Order of a whole part with this many digits and that of the limit: the longer one is larger. */
const wholeOrder = ({whole}: Limit, count: number, order: number): number =>
  count === whole.length ? order : Math.sign(count - whole.length)

/** Order of a number that ends after some digits of its fraction, and the limit. */
function finalOrder(limit: Limit, count: number, fraction: number, order: number): number {
  const soFar = fraction > 0 ? order : wholeOrder(limit, count, order)
  return soFar !== 0 ? soFar : /[1-9]/.test(limit.fraction.slice(fraction)) ? -1 : 0
}

const isWithin = (order: number, exclusive: boolean): boolean => order > 0 || (order === 0 && !exclusive)
