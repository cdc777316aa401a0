import type {Expression} from '../grammar.js'
import {lexeme} from '../json/text.js'
import {text} from '../pattern/build.js'
import type {Context} from './context.js'
import type {SchemaDocument, Subschema} from './document.js'
import {any, either, empty, sequence, some} from './expressions.js'
import type {Flat, Leaf} from './flat.js'
import {tooLarge, unsupported} from './keywords.js'
import {literalPattern} from './literals.js'

const maxUnique = 8
const maxStates = 4000

/** Keyword with the schemas of the first items, and keyword with the schema of the others. */
function keywordsOf({schema: {keywords}}: Leaf): {first?: string; rest?: string} {
  if (Array.isArray(keywords.items)) return {first: 'items', rest: 'additionalItems'}
  return {first: 'prefixItems', rest: 'items'}
}

const firstLength = (leaf: Leaf): number => {
  const {first} = keywordsOf(leaf)
  return ((leaf.schema.keywords[first!] as unknown[] | undefined) ?? []).length
}

/** Path of the subschema of a leaf for an index. */
function itemPath(leaf: Leaf, index: number): readonly (string | number)[] | undefined {
  const {first, rest} = keywordsOf(leaf)
  if (index < firstLength(leaf)) return [first!, index]
  return leaf.schema.keywords[rest!] === undefined ? undefined : [rest!]
}

/** Indices from here on have the same subschemas. */
const prefixLength = ({leaves}: Flat): number => Math.max(0, ...leaves.map(firstLength))

function itemSchemas(document: SchemaDocument, {leaves}: Flat, index: number): readonly Subschema[] {
  const schemas = new Set<Subschema>()
  for (const leaf of leaves) {
    const path = itemPath(leaf, index)
    if (path !== undefined) schemas.add(document.child(leaf.schema, ...path))
  }
  for (const {schema} of leaves) {
    if (schema.keywords.unevaluatedItems === undefined) continue
    const parts = leaves.filter((leaf) => leaf.schema === schema || leaf.evaluatesFor.has(schema.id))
    if (parts.some((leaf) => leaf.schema.keywords.contains !== undefined)) {
      throw unsupported(schema, 'unevaluatedItems', 'contains evaluates items, too')
    }
    const isEvaluated = parts.some((leaf) => {
      const hasNested = leaf.schema !== schema && leaf.schema.keywords.unevaluatedItems !== undefined
      return hasNested || itemPath(leaf, index) !== undefined
    })
    if (!isEvaluated) schemas.add(document.child(schema, 'unevaluatedItems'))
  }
  return [...schemas]
}

function lengths({leaves}: Flat): {min: number; max: number} {
  const values = (keyword: string) =>
    leaves.flatMap(({schema}) => (schema.keywords[keyword] as number | undefined) ?? [])
  return {min: Math.max(0, ...values('minItems')), max: Math.min(Number.POSITIVE_INFINITY, ...values('maxItems'))}
}

/** Fewest and most items that satisfy `contains`, with its schema. */
function containments({leaves}: Flat) {
  return leaves.flatMap(({schema}) => {
    const {contains, minContains = 1, maxContains = Number.POSITIVE_INFINITY} = schema.keywords
    if (contains === undefined || (minContains === 0 && maxContains === Number.POSITIVE_INFINITY)) return []
    return [{schema, min: minContains as number, max: maxContains as number}]
  })
}

/** True if the arrays of a conjunction certainly contradict its requirements. */
export function isArrayEmpty(
  {document}: Context,
  flat: Flat,
  isEmpty: (schemas: readonly Subschema[]) => boolean,
): boolean {
  const {min, max} = lengths(flat)
  if (min > max) return true
  const required = Math.min(min, prefixLength(flat) + 1)
  return Array.from({length: required}, (_, index) => index).some((index) =>
    isEmpty(itemSchemas(document, flat, index)),
  )
}

/** The arrays of a conjunction. */
export function arrayExpression(context: Context, flat: Flat): Expression {
  const {document, punctuation, value, isNothing} = context
  const prefix = prefixLength(flat)
  const {min, max: limit} = lengths(flat)
  const schemas = Array.from({length: prefix + 1}, (_, index) => itemSchemas(document, flat, index))
  // An item without a value ends the array before it.
  const impossible = schemas.findIndex(isNothing)
  const max = impossible === -1 ? limit : Math.min(limit, impossible)
  if (min > max) return either()
  const unique = flat.leaves.find(({schema}) => schema.keywords.uniqueItems === true)?.schema
  const contained = containments(flat)
  const brackets = (items: Expression): Expression => sequence(punctuation.open('['), items, punctuation.close(']'))
  const withEmpty = (isAllowed: boolean, items: Expression): Expression =>
    either(...(isAllowed ? [punctuation.empty('[]')] : []), ...(max === 0 ? [] : [brackets(items)]))

  if (unique !== undefined && max > 1)
    return withEmpty(min === 0 && contained.length === 0, uniqueItems(context, flat, unique, {min, max}))
  if (contained.length > 0) return withEmpty(false, containing(context, schemas, {min, max}, contained))
  return withEmpty(
    min === 0,
    itemsFrom(
      context,
      schemas.map((each) => (isNothing(each) ? either() : value(each))),
      min,
      max,
    ),
  )
}

/** At least one item: the items of the prefix one by one, then the rest with counted repetition. */
function itemsFrom(
  {punctuation, rule, nextId}: Context,
  items: readonly Expression[],
  min: number,
  max: number,
): Expression {
  const id = nextId()
  const prefix = items.length - 1
  const from = (index: number): Expression => {
    if (index >= max) return empty
    if (index >= prefix && index > 0) {
      const next = sequence(punctuation.comma, items[prefix]!)
      return max === Number.POSITIVE_INFINITY && min <= index
        ? any(next)
        : some(next, Math.max(0, min - index), max - index)
    }
    return rule(`array ${id} ${index}`, () => {
      const item = sequence(index === 0 ? empty : punctuation.comma, items[Math.min(index, prefix)]!, from(index + 1))
      return index > 0 && index >= min ? either(empty, item) : item
    })
  }
  return from(0)
}

/** Arrays without repetitions are written if the items have few values: one rule for each set of values so far. */
function uniqueItems(
  context: Context,
  flat: Flat,
  schema: Subschema,
  {min, max}: {min: number; max: number},
): Expression {
  const {document, punctuation, rule, nextId} = context
  const reason = `only arrays of at most ${maxUnique} different scalars can be checked for repetitions`
  if (prefixLength(flat) > 0 || containments(flat).length > 0) throw unsupported(schema, 'uniqueItems', reason)
  const values = context.scalarValues(itemSchemas(document, flat, 0))
  if (values === undefined || values.length > maxUnique) throw unsupported(schema, 'uniqueItems', reason)
  if (min > values.length) return either()
  const id = nextId()
  const from = (used: number, count: number): Expression =>
    rule(`unique ${id} ${used}`, () => {
      const options: Expression[] = count > 0 && count >= min ? [empty] : []
      values.forEach((value, index) => {
        if (count >= max || (used >> index) & 1) return
        const item = typeof value === 'string' ? punctuation.string(text(value)) : lexeme(literalPattern(value))
        options.push(sequence(count === 0 ? empty : punctuation.comma, item, from(used | (1 << index), count + 1)))
      })
      return either(...options)
    })
  return from(0, 0)
}

/** Arrays of which a number of items satisfies `contains`: states count the items, and those that do. */
function containing(
  context: Context,
  schemas: readonly (readonly Subschema[])[],
  {min, max}: {min: number; max: number},
  contained: ReturnType<typeof containments>,
): Expression {
  const {document, punctuation, rule, value, isNothing, nextId} = context
  const [{schema, min: minMatches, max: maxMatches}, ...others] = contained as [
    (typeof contained)[number],
    ...typeof contained,
  ]
  if (others.length > 0) throw unsupported(others[0]!.schema, 'contains', 'another subschema has the keyword, too')
  const matching = document.child(schema, 'contains')
  const other = maxMatches === Number.POSITIVE_INFINITY ? undefined : context.not(matching, schema)
  const length = max === Number.POSITIVE_INFINITY ? Math.max(min, schemas.length) : max
  const matches = maxMatches === Number.POSITIVE_INFINITY ? minMatches : maxMatches
  if (length * matches > maxStates) throw tooLarge(schema, 'contains', `${maxStates} states`)
  const id = nextId()
  const item = (index: number, each: readonly Subschema[], count: number): Expression[] =>
    isNothing(each)
      ? []
      : [sequence(index === 0 ? empty : punctuation.comma, value(each), from(Math.min(index + 1, length), count))]
  const from = (index: number, count: number): Expression =>
    rule(`contains ${id} ${index} ${count}`, () => {
      const options: Expression[] = index >= min && count >= minMatches ? [empty] : []
      if (index < max) {
        const all = schemas[Math.min(index, schemas.length - 1)]!
        if (maxMatches === Number.POSITIVE_INFINITY) {
          options.push(...item(index, [...all, matching], Math.min(count + 1, minMatches)))
          options.push(...item(index, all, count))
        } else {
          if (count < maxMatches) options.push(...item(index, [...all, matching], count + 1))
          if (other !== undefined) options.push(...item(index, [...all, other], count))
        }
      }
      return either(...options)
    })
  return from(0, 0)
}
