import type {Expression, Pattern} from '../grammar.js'
import {jsonNumber, lexeme} from '../json/text.js'
import {both, either, not} from '../pattern/build.js'
import {commonMultiple, compare, type Decimal, decimal, isMultiple, neighbour} from './decimal.js'
import {multiplesExpression} from './multiples.js'
import {type Bound, equalNumber, nonInteger, numberRange, shortNumber, withScale} from './number-range.js'

/** What the schemas of a value require of a number. */
export interface NumberShape {
  readonly integer: boolean
  readonly fractional: boolean
  readonly min?: Bound
  readonly max?: Bound
  readonly multipleOf?: Decimal
  readonly values?: readonly number[]
  readonly excluded: readonly number[]
}

export const anyNumber: NumberShape = {integer: false, fractional: false, excluded: []}

export const narrowMin = (shape: NumberShape, bound: Bound): NumberShape => {
  const order = shape.min === undefined ? 1 : compare(bound.value, shape.min.value)
  return order > 0 || (order === 0 && bound.exclusive) ? {...shape, min: bound} : shape
}

export const narrowMax = (shape: NumberShape, bound: Bound): NumberShape => {
  const order = shape.max === undefined ? -1 : compare(bound.value, shape.max.value)
  return order < 0 || (order === 0 && bound.exclusive) ? {...shape, max: bound} : shape
}

export const narrowMultiple = (shape: NumberShape, of: number): NumberShape => {
  const value = decimal(of)
  return {...shape, multipleOf: shape.multipleOf === undefined ? value : commonMultiple(shape.multipleOf, value)}
}

export const narrowValues = (shape: NumberShape, values: readonly number[]): NumberShape => ({
  ...shape,
  values: shape.values === undefined ? values : shape.values.filter((value) => values.includes(value)),
})

/** True if a number has the shape. */
export function isNumberOf(shape: NumberShape, value: number): boolean {
  const exact = decimal(value)
  const {min, max, multipleOf} = shape
  const above = min === undefined ? 1 : compare(exact, min.value)
  const below = max === undefined ? -1 : compare(exact, max.value)
  return (
    (above > 0 || (above === 0 && min?.exclusive !== true)) &&
    (below < 0 || (below === 0 && max?.exclusive !== true)) &&
    (!shape.integer || exact.scale === 0) &&
    (!shape.fractional || exact.scale > 0) &&
    (multipleOf === undefined || isMultiple(exact, multipleOf)) &&
    (shape.values === undefined || shape.values.includes(value)) &&
    !shape.excluded.includes(value)
  )
}

/** The values of the shape if it lists them. */
export const numberValues = (shape: NumberShape): readonly number[] | undefined =>
  shape.values?.filter((value) => isNumberOf(shape, value))

/** True if no number has the shape. False may also mean that this is not known. */
export function isNumberEmpty(shape: NumberShape): boolean {
  if (shape.values !== undefined) return numberValues(shape)!.length === 0
  if (shape.integer && shape.fractional) return true
  const {min, max} = tightened(shape)
  if (min === undefined || max === undefined) return false
  const order = compare(min.value, max.value)
  if (order !== 0) return order > 0
  if (min.exclusive || max.exclusive) return true
  const only = Number(min.value.units) / 10 ** min.value.scale
  return Number.isSafeInteger(Number(min.value.units)) && !isNumberOf(shape, only)
}

/** Bounds of integers are integers and inclusive. */
function tightened(shape: NumberShape): {min?: Bound; max?: Bound} {
  const {min, max, integer} = shape
  if (!integer) return {...(min && {min}), ...(max && {max})}
  const floor = ({units, scale}: Decimal): bigint => {
    const unit = 10n ** BigInt(scale)
    return units >= 0n || units % unit === 0n ? units / unit : units / unit - 1n
  }
  const inclusive = (units: bigint): Bound => ({value: {units, scale: 0}, exclusive: false})
  /** @param otherwise the bound if that of the shape is not an integer */
  const ofInteger = (bound: Bound, direction: 1 | -1, otherwise: bigint): bigint => {
    if (bound.value.scale > 0) return otherwise
    return bound.exclusive ? next(bound, direction) : bound.value.units
  }
  const next = ({value}: Bound, direction: 1 | -1): bigint => {
    const isExact = Number.isSafeInteger(Number(value.units))
    return isExact ? value.units + BigInt(direction) : neighbour(value, direction).units
  }
  return {
    ...(min && {min: inclusive(ofInteger(min, 1, floor(min.value) + 1n))}),
    ...(max && {max: inclusive(ofInteger(max, -1, floor(max.value)))}),
  }
}

/**
 * The texts of the numbers of a shape. Numbers with a bound, a multiple or excluded values are written without exponent, integers
 * without fraction. `rule` names a rule for the expression of multiples; it is called at most once per state.
 */
export function numberExpression(
  shape: NumberShape,
  rule: (key: string, make: () => Expression) => Expression,
): Expression {
  const values = numberValues(shape)
  if (values !== undefined) return lexeme(either(...values.map((value) => shortNumber(decimal(value)))))
  const {min, max} = tightened(shape)
  const {multipleOf, integer, fractional, excluded} = shape
  const others = (number: number): Pattern => {
    const bound = {value: decimal(number), exclusive: true}
    return integer
      ? not(equalNumber(bound.value))
      : either(numberRange(undefined, bound, false), numberRange(bound, undefined, false))
  }
  const excluding = (pattern: Pattern): Pattern =>
    excluded.length === 0 ? pattern : both(pattern, ...excluded.map(others))
  const isPlain = !integer && !fractional && multipleOf === undefined && excluded.length === 0
  if (isPlain && min === undefined && max === undefined) return lexeme(jsonNumber)
  const range = numberRange(min, max, integer)
  const fractionalRange = fractional ? both(range, nonInteger) : range
  if (multipleOf === undefined) return lexeme(excluding(fractionalRange))
  const of = integer ? commonMultiple(multipleOf, decimal(1)) : multipleOf
  if (of.units === 1n)
    return lexeme(excluding(of.scale === 0 ? numberRange(min, max, true) : both(fractionalRange, withScale(of.scale))))
  return multiplesExpression({of, ...(min && {min}), ...(max && {max})}, rule)
}

const maxModulus = 1000n

/** Why a multiple of the shape cannot be written as an expression; undefined if it can. */
export function multipleRefusal({multipleOf, excluded, fractional, values}: NumberShape): string | undefined {
  if (multipleOf === undefined || multipleOf.units === 1n || values !== undefined) return undefined
  if (excluded.length > 0 || fractional) return 'other keywords exclude some multiples'
  return multipleOf.units > maxModulus ? `it has more than ${maxModulus} remainders` : undefined
}
