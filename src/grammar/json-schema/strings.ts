import type {Pattern} from '../grammar.js'
import {anyCharacter, both, either, not, repeat, text} from '../pattern/build.js'
import {isEmptyPattern} from '../pattern/empty.js'
import {matchesText} from '../pattern/match.js'

/** What the schemas of a value require of a string. Lengths count code points. */
export interface StringShape {
  readonly values?: readonly string[]
  readonly patterns: readonly Pattern[]
  readonly min: number
  readonly max: number
}

export const anyString: StringShape = {patterns: [], min: 0, max: Number.POSITIVE_INFINITY}

export const narrowPattern = (shape: StringShape, pattern: Pattern): StringShape =>
  shape.patterns.includes(pattern) ? shape : {...shape, patterns: [...shape.patterns, pattern]}

export const narrowLength = (shape: StringShape, min: number, max: number): StringShape => ({
  ...shape,
  min: Math.max(shape.min, min),
  max: Math.min(shape.max, max),
})

export const narrowStrings = (shape: StringShape, values: readonly string[]): StringShape => {
  const allowed = new Set(values)
  return {
    ...shape,
    values: shape.values === undefined ? [...allowed] : shape.values.filter((each) => allowed.has(each)),
  }
}

export const excludeStrings = (shape: StringShape, values: readonly string[]): StringShape =>
  values.length === 0 ? shape : narrowPattern(shape, not(either(...values.map(text))))

/** The values of the shape if it lists them. */
export const stringValues = ({values, patterns, min, max}: StringShape): readonly string[] | undefined =>
  values?.filter((value) => {
    const length = [...value].length
    return min <= length && length <= max && patterns.every((pattern) => matchesText(pattern, value))
  })

export const isStringOf = (shape: StringShape, value: string): boolean =>
  stringValues(narrowStrings(shape, [value]))!.length > 0

/** The characters of the strings of a shape. */
export function stringPattern(shape: StringShape): Pattern {
  const values = stringValues(shape)
  if (values !== undefined) return either(...values.map(text))
  const {patterns, min, max} = shape
  const hasLength = min > 0 || max !== Number.POSITIVE_INFINITY
  return both(...patterns, ...(hasLength ? [repeat(anyCharacter, min, max)] : []))
}

/** True if no string has a length or a listed value of the shape, whatever its patterns say. */
export const hasNoLength = ({min, max, values}: StringShape): boolean => min > max || values?.length === 0

/** True if no string has the shape. False may also mean that this is not known. */
export const isStringEmpty = (shape: StringShape): boolean => {
  const values = stringValues(shape)
  if (values !== undefined) return values.length === 0
  return shape.min > shape.max || (shape.patterns.length > 0 && isEmptyPattern(stringPattern(shape)))
}
