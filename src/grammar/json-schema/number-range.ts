import type {Pattern} from '../grammar.js'
import {both, characters, digit, either, emptyText, not, optional, repeat, sequence, text} from '../pattern/build.js'
import {type Decimal, digits, neighbour} from './decimal.js'

/** A bound of a range of numbers. */
export interface Bound {
  readonly value: Decimal
  readonly exclusive: boolean
}

const minus = text('-')
const point = text('.')
const nonZero = characters([[0x31, 0x39]])
const whole = either(text('0'), sequence(nonZero, repeat(digit)))
const anyFraction = optional(sequence(point, repeat(digit, 1)))
const digitsAbove = (from: string): Pattern => characters([[from.charCodeAt(0) + 1, 0x39]])
/** Digits that are not all zero, of a fraction that is not rounded to zero. */
const positiveDigits = sequence(repeat(text('0'), 0, 322), nonZero, repeat(digit))

/** Decimal numbers without an exponent. */
const magnitude = (fraction: Pattern): Pattern => sequence(whole, fraction)

/**
 * Magnitudes above a decimal, or equal to it if `inclusive`, as texts without exponent. First are longer whole parts,
 * then whole parts of the same length that differ at some digit, then equal whole parts with a larger fraction.
 */
function above(value: Decimal, inclusive: boolean, hasFraction: boolean): Pattern {
  const {whole: wholeDigits, fraction} = digits(value)
  const rest = hasFraction ? anyFraction : emptyText
  const larger = [...wholeDigits].map((each, index) => {
    return sequence(
      text(wholeDigits.slice(0, index)),
      digitsAbove(each),
      repeat(digit, wholeDigits.length - index - 1, wholeDigits.length - index - 1),
      rest,
    )
  })
  const longer = sequence(nonZero, repeat(digit, wholeDigits.length), rest)
  if (!hasFraction) return either(longer, ...larger, ...(inclusive && fraction === '' ? [text(wholeDigits)] : []))
  const largerFraction = [...fraction].map((each, index) => {
    return sequence(text(`${wholeDigits}.${fraction.slice(0, index)}`), digitsAbove(each), repeat(digit))
  })
  return either(longer, ...larger, ...largerFraction, equalStart(wholeDigits, fraction, inclusive))
}

/** Texts that start with all digits of a value and are not below it, or only those above it. */
function equalStart(wholeDigits: string, fraction: string, inclusive: boolean): Pattern {
  const exact = fraction === '' ? text(wholeDigits) : text(`${wholeDigits}.${fraction}`)
  const more = sequence(exact, fraction === '' ? point : emptyText)
  if (!inclusive) return sequence(more, positiveDigits)
  return fraction === '' ? sequence(exact, anyFraction) : sequence(more, repeat(digit))
}

/** A bound that is not exclusive unless it is zero: numbers with more digits than a double has may be rounded to a bound. */
function closed(bound: Bound, direction: 1 | -1): Bound {
  if (!bound.exclusive || bound.value.units === 0n) return bound
  return {value: neighbour(bound.value, direction), exclusive: false}
}

/**
 * Texts of the numbers between two bounds, without exponent; of integers, without fraction. Those that are rounded to an
 * exclusive bound when they are read are left out.
 */
export function numberRange(lower: Bound | undefined, upper: Bound | undefined, integer: boolean): Pattern {
  const min = lower && closed(lower, 1)
  const max = upper && closed(upper, -1)
  const fraction = integer ? emptyText : anyFraction
  const all = magnitude(fraction)
  const upwards = ({value, exclusive}: Bound): Pattern => above(value, !exclusive, !integer)
  const downwards = ({value, exclusive}: Bound): Pattern => both(all, not(above(value, exclusive, !integer)))
  const absolute = ({value, exclusive}: Bound): Bound => ({
    value: {units: value.units < 0n ? -value.units : value.units, scale: value.scale},
    exclusive,
  })
  const atLeast = ({...bound}: Bound): Pattern =>
    bound.value.units >= 0n ? upwards(bound) : either(all, sequence(minus, downwards(absolute(bound))))
  const atMost = ({...bound}: Bound): Pattern => {
    const {units} = bound.value
    if (units < 0n || (units === 0n && bound.exclusive)) return sequence(minus, upwards(absolute(bound)))
    return either(sequence(minus, all), downwards(bound))
  }
  const parts = [...(min === undefined ? [] : [atLeast(min)]), ...(max === undefined ? [] : [atMost(max)])]
  return parts.length === 0 ? sequence(optional(minus), all) : both(...parts)
}

/** The shortest text of a number, and that of an integer with `.0`: zeros without end would invite small models to loop. */
export function shortNumber({units, scale}: Decimal): Pattern {
  const {whole: wholeDigits, fraction} = digits({units, scale})
  const sign = units < 0n ? '-' : ''
  if (fraction !== '') return text(`${sign}${wholeDigits}.${fraction}`)
  return sequence(text(`${sign}${wholeDigits}`), optional(text('.0')))
}

/** All texts of a number without exponent. */
export function equalNumber({units, scale}: Decimal): Pattern {
  const {whole: wholeDigits, fraction} = digits({units, scale})
  const sign = units < 0n ? minus : units === 0n ? optional(minus) : emptyText
  const zeros = repeat(text('0'))
  if (fraction !== '') return sequence(sign, text(`${wholeDigits}.${fraction}`), zeros)
  return sequence(sign, text(wholeDigits), optional(sequence(point, repeat(text('0'), 1))))
}

/** Numbers that are not integers. */
export const nonInteger: Pattern = sequence(optional(minus), whole, point, positiveDigits)

/** Numbers with at most `scale` digits after the point. */
export const withScale = (scale: number): Pattern =>
  sequence(optional(minus), whole, optional(sequence(point, repeat(digit, 1, scale))))
