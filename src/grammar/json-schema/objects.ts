import type {Expression, Pattern} from '../grammar.js'
import {both, either as eitherPattern} from '../pattern/build.js'
import {isEmptyPattern} from '../pattern/empty.js'
import type {Context} from './context.js'
import type {Subschema} from './document.js'
import {any, either, empty, sequence, some} from './expressions.js'
import type {Flat} from './flat.js'
import {tooLarge, unsupported} from './keywords.js'
import {classOfName, declaredNames, type NameClass, otherClasses, propertySchemas, requiredNames} from './properties.js'
import {isStringOf, stringPattern} from './strings.js'

const maxStates = 20_000

/** A property of an object in the order of the schema. */
interface Property {
  readonly name: string
  readonly isRequired: boolean
  readonly pair: Expression
}

/** Fewest and most properties of an object. */
interface Counts {
  readonly min: number
  readonly max: number
}

const limitOf = (
  {leaves}: Flat,
  keyword: string,
  combine: (...values: number[]) => number,
  otherwise: number,
): number => combine(otherwise, ...leaves.flatMap(({schema}) => (schema.keywords[keyword] as number | undefined) ?? []))

const countsOf = (flat: Flat): Counts => ({
  min: limitOf(flat, 'minProperties', Math.max, 0),
  max: limitOf(flat, 'maxProperties', Math.min, Number.POSITIVE_INFINITY),
})

/** The first subschema with a keyword, which one of them has. */
const schemaWith = ({leaves}: Flat, keyword: string): Subschema =>
  leaves.find(({schema}) => schema.keywords[keyword] !== undefined)!.schema

/** The names that `propertyNames` allows; undefined if all are allowed. */
function namePattern({document, expansion}: Context, {leaves}: Flat) {
  const schemas = leaves.flatMap(({schema}) =>
    schema.keywords.propertyNames === undefined ? [] : [document.child(schema, 'propertyNames')],
  )
  if (schemas.length === 0) return undefined
  const shapes = expansion.expand(schemas).flatMap(({types, string}) => (types.has('string') ? [string] : []))
  return {
    allows: (name: string) => shapes.some((shape) => isStringOf(shape, name)),
    pattern: eitherPattern(...shapes.map(stringPattern)),
  }
}

/** True if the objects of a conjunction certainly contradict its requirements. `isEmpty` decides it for values of properties. */
export function isObjectEmpty(
  context: Context,
  flat: Flat,
  isEmpty: (schemas: readonly Subschema[]) => boolean,
): boolean {
  const required = requiredNames(flat.leaves)
  const {min, max} = countsOf(flat)
  if (min > max || required.size > max) return true
  const allowed = namePattern(context, flat)
  return [...required].some((name) => {
    return allowed?.allows(name) === false || isEmpty(propertySchemas(context.document, flat, classOfName(flat, name)))
  })
}

/** The objects of a conjunction: properties in the order of the schema, then all others that it allows. */
export function objectExpression(context: Context, flat: Flat): Expression {
  const {document, punctuation, value, isNothing} = context
  const required = requiredNames(flat.leaves)
  const allowed = namePattern(context, flat)
  const names = declaredNames(flat)
  const pair = (key: Pattern, schemas: readonly Subschema[]): Expression =>
    sequence(punctuation.key(key), value(schemas))

  const properties: Property[] = []
  for (const name of names) {
    const names = classOfName(flat, name)
    const schemas = propertySchemas(document, flat, names)
    const isPossible = allowed?.allows(name) !== false && !isNothing(schemas)
    if (isPossible) properties.push({name, isRequired: required.has(name), pair: pair(names.pattern, schemas)})
    else if (required.has(name)) return either()
  }
  const others = otherClasses(flat, names).flatMap((names: NameClass) => {
    const key = allowed === undefined ? names.pattern : both(names.pattern, allowed.pattern)
    const schemas = propertySchemas(document, flat, names)
    // Only `propertyNames` limits the names that the schema does not list.
    const isEmpty = isNothing(schemas) || (allowed !== undefined && isEmptyPattern(key))
    return isEmpty ? [] : [pair(key, schemas)]
  })
  return writeObject(context, flat, properties, others.length === 0 ? undefined : either(...others))
}

function writeObject(
  context: Context,
  flat: Flat,
  properties: readonly Property[],
  other: Expression | undefined,
): Expression {
  const {punctuation, rule} = context
  const counts = countsOf(flat)
  const required = properties.filter(({isRequired}) => isRequired).length
  if (required > counts.max) return either()
  const min = Math.max(0, counts.min)
  // Other names may be equal, so that only the first one certainly adds a property.
  if (other !== undefined && min > required + 1) {
    throw unsupported(
      schemaWith(flat, 'minProperties'),
      'minProperties',
      'names that the schema does not list may be repeated',
    )
  }
  const isCounted =
    min > required || counts.max < properties.length + (other === undefined ? 0 : Number.POSITIVE_INFINITY)
  const limit = counts.max === Number.POSITIVE_INFINITY ? min : counts.max
  if (isCounted && properties.length * limit > maxStates) {
    const keyword = counts.max === Number.POSITIVE_INFINITY ? 'minProperties' : 'maxProperties'
    throw tooLarge(schemaWith(flat, keyword), keyword, `${maxStates} states`)
  }
  const id = context.nextId()
  /** What follows after `count` properties, from one property of the schema on. */
  const from = (index: number, count: number): Expression => {
    const property = properties[index]
    const written = isCounted ? Math.min(count, limit) : Math.min(count, 1)
    if (property === undefined) return othersAfter(written)
    return rule(`object ${id} ${index} ${written}`, () => {
      const options: Expression[] = []
      if (!isCounted || written < counts.max)
        options.push(sequence(separator(written), property.pair, from(index + 1, written + 1)))
      if (!property.isRequired) options.push(from(index + 1, written))
      return either(...options)
    })
  }
  const separator = (count: number): Expression => (count === 0 ? empty : punctuation.comma)
  const othersAfter = (count: number): Expression => {
    const room = counts.max - (isCounted ? count : 0)
    const missing = isCounted ? min - count : 0
    const end = missing <= 0 && count > 0 ? [empty] : []
    if (other === undefined || room <= 0 || missing > 1) return either(...end)
    const next = sequence(punctuation.comma, other)
    const rest = room === Number.POSITIVE_INFINITY ? any(next) : some(next, 0, room - 1)
    return either(...end, sequence(separator(count), other, rest))
  }
  const nonEmpty = sequence(punctuation.open('{'), from(0, 0), punctuation.close('}'))
  return either(
    ...(required === 0 && min === 0 ? [punctuation.empty('{}')] : []),
    ...(counts.max === 0 ? [] : [nonEmpty]),
  )
}
