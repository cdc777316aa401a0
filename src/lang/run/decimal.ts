import type {RoundingMode} from '../check/index.js'
import {Failure} from './failure.js'

/** Decimal arithmetic on digits: `12.50` stays `12.50`. */
interface Scaled {
  digits: bigint
  scale: number
}

/** Maximum number of digits of a result. */
const maxDigits = 1 << 16
/** Digits of a quotient that is not finite, as in the format decimal128 of IEEE 754. */
const quotientDigits = 34

function parse(text: string): Scaled {
  const [integer = '0', fraction = ''] = text.split('.')
  return {digits: BigInt(integer + fraction), scale: fraction.length}
}

const absolute = (digits: bigint) => (digits < 0n ? -digits : digits)
const powerOfTen = (exponent: number) => 10n ** BigInt(exponent)
const countDigits = (digits: bigint) => absolute(digits).toString().length

function print({digits, scale}: Scaled): string {
  const text = absolute(digits)
    .toString()
    .padStart(scale + 1, '0')
  const sign = digits < 0n ? '-' : ''
  return scale === 0 ? sign + text : `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`
}

function aligned(a: string, b: string): [bigint, bigint, number] {
  const [x, y] = [parse(a), parse(b)]
  const scale = Math.max(x.scale, y.scale)
  const raise = ({digits, scale: own}: Scaled) => digits * powerOfTen(scale - own)
  return [raise(x), raise(y), scale]
}

/** Negative, zero or positive if `a` is less than, equal to or greater than `b`. */
export function compareDecimals(a: string, b: string): number {
  const [x, y] = aligned(a, b)
  return x < y ? -1 : x > y ? 1 : 0
}

/** @throws Failure DIVISION_BY_ZERO; STEP_LIMIT if a product has too many digits */
export function calculateDecimals(a: string, operator: '+' | '-' | '*' | '/' | '%', b: string): string {
  if (operator === '/') return divide(parse(a), parse(b))
  if (operator === '*') {
    if (a.length + b.length > maxDigits) throw new Failure('STEP_LIMIT', 'a decimal has too many digits')
    const [x, y] = [parse(a), parse(b)]
    return print({digits: x.digits * y.digits, scale: x.scale + y.scale})
  }
  const [x, y, scale] = aligned(a, b)
  if (operator === '%') return print({digits: x % nonZero(y), scale})
  return print({digits: operator === '+' ? x + y : x - y, scale})
}

function nonZero(digits: bigint): bigint {
  if (digits === 0n) throw new Failure('DIVISION_BY_ZERO', 'division by zero')
  return digits
}

/**
 * The quotient, exact if it has at most 34 significant digits, else rounded half to even. Like in decimal128, an exact
 * quotient has the scale of the dividend minus that of the divisor, or as many more digits as it needs.
 */
function divide(x: Scaled, y: Scaled): string {
  const divisor = nonZero(y.digits)
  const lacking = quotientDigits + 1 + countDigits(divisor) - countDigits(x.digits)
  const shift = Math.max(0, lacking, y.scale - x.scale)
  const dividend = x.digits * powerOfTen(shift)
  const scale = x.scale - y.scale + shift
  const quotient = dividend / divisor
  // One more digit, which only decides between a half and more than a half.
  const isNegative = dividend < 0n !== divisor < 0n
  const rest = dividend % divisor === 0n ? 0n : isNegative ? -1n : 1n
  const places = Math.max(0, quotientDigits - (countDigits(quotient) - scale))
  const rounded = roundScaled({digits: quotient * 10n + rest, scale: scale + 1}, Math.min(places, scale), 'half_even')
  return print(withoutZeros(rounded, Math.max(0, x.scale - y.scale)))
}

/** Removes zeros at the end of the fraction, down to a number of places. */
function withoutZeros({digits, scale}: Scaled, places: number): Scaled {
  let [left, at] = [digits, scale]
  while (at > places && left % 10n === 0n) {
    left /= 10n
    at--
  }
  return {digits: left, scale: at}
}

/** How the magnitude is rounded: whether it is increased. `rest` and `unit`: what is cut off, of one unit. */
const isIncreased: Readonly<Record<RoundingMode, (kept: bigint, rest: bigint, unit: bigint) => boolean>> = {
  half_even: (kept, rest, unit) => rest * 2n > unit || (rest * 2n === unit && kept % 2n === 1n),
  half_up: (_, rest, unit) => rest * 2n >= unit,
  down: () => false,
}

function roundScaled({digits, scale}: Scaled, places: number, mode: RoundingMode): Scaled {
  if (places >= scale) return {digits: digits * powerOfTen(places - scale), scale: places}
  const unit = powerOfTen(scale - places)
  const magnitude = absolute(digits)
  const kept = magnitude / unit
  const rounded = isIncreased[mode](kept, magnitude % unit, unit) ? kept + 1n : kept
  return {digits: digits < 0n ? -rounded : rounded, scale: places}
}

/** Rounds to a number of decimal places, which the result has exactly. */
export const roundDecimal = (text: string, places: number, mode: RoundingMode): string =>
  print(roundScaled(parse(text), places, mode))

/** The digits of a number in decimal notation, the fewest that denote it. */
export function decimalOf(value: number): string {
  const [, sign = '', integer = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? []
  const digits = BigInt(sign + integer + fraction)
  const scale = fraction.length - Number(exponent)
  return print(scale < 0 ? {digits: digits * powerOfTen(-scale), scale: 0} : {digits, scale})
}

/** The mean, with the digits of a quotient. Not of an empty list. */
export function averageDecimals(items: readonly string[]): string {
  const total = items.reduce((sum, item) => calculateDecimals(sum, '+', item))
  return divide(parse(total), {digits: BigInt(items.length), scale: 0})
}

/** A sort key in decimal order, equal for equal values; the same as the SQL in `plan/sql.ts`. */
export function decimalKey(text: string): string {
  const [before = '', after = ''] = text.split('.')
  const integer = before.replace(/^[-0]+/, '')
  const size = String(integer.length).padStart(7, '0') + integer + after.replace(/0+$/, '')
  const isNegative = text.startsWith('-') && /[1-9]/.test(text)
  return isNegative ? `N${size.replaceAll(/\d/g, (digit) => 'jihgfedcba'[Number(digit)] as string)}~` : `P${size}`
}
