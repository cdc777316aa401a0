import {isObject} from '../../contracts/index.js'
import type {JsonObject, SchemaDocument, Subschema} from './document.js'

import {anyValue, type Flat, type Leaf, typeOf, valueLists, withLeaf} from './flat.js'
import {checkKeywords, isAssertion, tooLarge, unsupported} from './keywords.js'
import {isRefused, negation} from './negate.js'

/** A subschema that applies to a value, with the subschemas that apply it in place. */
interface Applied extends Leaf {
  readonly appliedBy: ReadonlySet<number>
}

/** Alternatives of a keyword: the value satisfies all subschemas of one option. */
interface Choice {
  readonly schema: Subschema
  readonly keyword: string
  readonly options: (flat: Flat) => readonly (readonly Applied[])[]
}

/** Decides whether a conjunction certainly has no value; `complete` if no alternatives are open, which may take longer. */
export type IsEmpty = (flat: Flat, complete: boolean) => boolean

/** Most conjunctions that the alternatives of one value may be expanded to. */
const maxFlats = 1000
const maxSubsets = 5
/** Most subschemas that the alternatives of a whole document may apply, each counted with those that it joins. */
const maxApplied = 12_000_000
const none: ReadonlySet<number> = new Set()

/** Expands subschemas to conjunctions without alternatives, of which a value must satisfy one. */
export class Expansion {
  readonly #document: SchemaDocument
  readonly #isEmpty: IsEmpty
  readonly #known = new Map<string, readonly Flat[]>()
  readonly #negations = new Map<number, Subschema | undefined>()
  readonly #derived = new Map<string, Subschema>()
  #applied = 0

  constructor(document: SchemaDocument, isEmpty: IsEmpty) {
    this.#document = document
    this.#isEmpty = isEmpty
  }

  /** The conjunctions of subschemas that apply to the same value; none if they contradict each other. */
  expand(schemas: readonly Subschema[]): readonly Flat[] {
    const key = schemas.map(({id}) => id).join()
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const flats = this.#run(
      anyValue,
      schemas.map((schema, index) => ({schema, appliedBy: none, evaluatesFor: none, place: [index]})),
      [],
    )
    this.#known.set(key, flats)
    return flats
  }

  #run(start: Flat, applied: readonly Applied[], open: readonly Choice[]): readonly Flat[] {
    let flat = start
    const pending = [...applied]
    const choices = [...open]
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      const {schema} = next
      this.#applied += flat.leaves.length + choices.length
      if (next.appliedBy.has(schema.id))
        throw unsupported(schema, cycleKeyword(schema), 'it refers to itself without a value in between')
      const before = flat.leaves.find((leaf) => leaf.schema === schema)
      if (before !== undefined && isSubset(next.evaluatesFor, before.evaluatesFor)) continue
      if (before === undefined) {
        checkKeywords(schema)
        flat = withLeaf(flat, next)
        if (flat.types.size === 0) return []
      } else {
        const merged = {...before, evaluatesFor: new Set([...before.evaluatesFor, ...next.evaluatesFor])}
        flat = {...flat, leaves: flat.leaves.map((leaf) => (leaf === before ? merged : leaf))}
      }
      const inPlace = this.#inPlace(next)
      if (inPlace === undefined) return []
      pending.unshift(...inPlace.applied)
      choices.push(...inPlace.choices)
    }
    if (this.#isEmpty(flat, choices.length === 0)) return []
    const [choice, ...rest] = choices
    if (choice === undefined) return [flat]
    const flats: Flat[] = []
    for (const option of choice.options(flat)) {
      flats.push(...this.#run(flat, option, rest))
      if (this.#applied > maxApplied)
        throw tooLarge(choice.schema, choice.keyword, `${maxApplied} subschemas that alternatives apply`)
      if (flats.length > maxFlats) throw tooLarge(choice.schema, choice.keyword, `${maxFlats} alternatives`)
    }
    return flats
  }

  /** The subschemas that a subschema applies to the same value; undefined if no value satisfies it. */
  #inPlace(by: Applied): {applied: Applied[]; choices: Choice[]} | undefined {
    const {schema} = by
    const {keywords} = schema
    const applied: Applied[] = []
    const choices: Choice[] = []
    for (const keyword of ['$ref', '$dynamicRef', '$recursiveRef'] as const) {
      if (keywords[keyword] !== undefined)
        applied.push(this.#by(by, this.#document.resolve(schema, keyword), [keyword]))
    }
    const child = (...path: (string | number)[]) => this.#by(by, this.#document.child(schema, ...path), path)
    const list = (keyword: string): Applied[] =>
      ((keywords[keyword] as unknown[]) ?? []).map((_, i) => child(keyword, i))
    const choose = (keyword: string, options: Choice['options']) => choices.push({schema, keyword, options})

    applied.push(...list('allOf'))
    if (keywords.not !== undefined) {
      const negated = this.not(this.#document.child(schema, 'not'), schema)
      if (negated === undefined) return undefined
      applied.push(this.#unevaluated(by, negated))
    }
    for (const values of valueLists(keywords)) {
      if (values.some(isCompound)) choose('enum', () => this.#valueOptions(by, values))
    }
    if (keywords.anyOf !== undefined) choose('anyOf', (flat) => this.#anyOf(list('anyOf'), flat))
    if (keywords.oneOf !== undefined) choose('oneOf', (flat) => this.#oneOf(by, list('oneOf'), flat))
    if (keywords.if !== undefined) choose('if', (flat) => this.#conditional(by, child, flat))
    for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
      for (const [name, needed] of Object.entries((keywords[keyword] as JsonObject) ?? {})) {
        choose(keyword, () => [
          [this.#synthetic(by, `without ${JSON.stringify(name)}`, {properties: {[name]: false}}, keyword)],
          [
            this.#synthetic(by, `with ${JSON.stringify(name)}`, {type: 'object', required: [name]}, keyword),
            Array.isArray(needed)
              ? this.#synthetic(by, `needs ${JSON.stringify(needed)}`, {required: needed}, keyword)
              : child(keyword, name),
          ],
        ])
      }
    }
    return {applied, choices}
  }

  #conditional(by: Applied, child: (keyword: string) => Applied, flat: Flat): Applied[][] {
    const has = (keyword: string) => by.schema.keywords[keyword] !== undefined
    const condition = child('if')
    // Without then and else, the condition only matters for what it evaluates.
    if (!has('then') && !has('else')) return evaluationOf(flat) === undefined ? [[]] : [[condition], []]
    const negated = this.not(condition.schema, by.schema)
    const otherwise = negated && [this.#unevaluated(by, negated), ...(has('else') ? [child('else')] : [])]
    return [[condition, ...(has('then') ? [child('then')] : [])], ...(otherwise === undefined ? [] : [otherwise])]
  }

  #by(
    {schema, appliedBy, evaluatesFor, place}: Applied,
    child: Subschema,
    path: readonly (string | number)[],
  ): Applied {
    const [keyword = '', index = 0] = path
    const position = Object.keys(schema.keywords).indexOf(String(keyword))
    return {
      // What no keyword contains, such as a negation, comes last.
      place: [...place, position === -1 ? Number.MAX_SAFE_INTEGER : position, Number(index) || 0],
      schema: child,
      appliedBy: new Set([...appliedBy, schema.id]),
      evaluatesFor: new Set([...evaluatesFor, schema.id]),
    }
  }

  /** A subschema that evaluates nothing: a negation, or a value of an enumeration. */
  #unevaluated(by: Applied, child: Subschema): Applied {
    return {...this.#by(by, child, []), evaluatesFor: none}
  }

  #synthetic(by: Applied, key: string, keywords: JsonObject, replaces: string): Applied {
    const name = `${by.schema.id} ${key}`
    let schema = this.#derived.get(name)
    if (schema === undefined) {
      schema = this.#document.derived(keywords, by.schema, replaces)
      this.#derived.set(name, schema)
    }
    return this.#unevaluated(by, schema)
  }

  /** The schema of the values that are invalid for a schema; undefined if there are none. */
  not(schema: Subschema, negatedBy: Subschema): Subschema | undefined {
    if (!this.#negations.has(schema.id)) {
      const keywords = negation(this.#document, schema, negatedBy)
      const replaced = Object.keys(schema.keywords).find(isAssertion)
      this.#negations.set(schema.id, keywords && this.#document.derived(keywords, schema, replaced))
    }
    return this.#negations.get(schema.id)
  }

  /** One option for all scalars of an enumeration, and one for each array and object. */
  #valueOptions(by: Applied, values: readonly unknown[]): Applied[][] {
    const scalars = values.filter((value) => !isCompound(value))
    const compounds = values.filter(isCompound)
    return [
      ...(scalars.length > 0 ? [[this.#synthetic(by, 'scalars', {enum: scalars}, 'enum')]] : []),
      ...compounds.map((value) => [this.#synthetic(by, `value ${JSON.stringify(value)}`, valueSchema(value), 'enum')]),
    ]
  }

  /** If evaluations count, the options are the sets of subschemas that the value satisfies. */
  #anyOf(options: readonly Applied[], flat: Flat): readonly (readonly Applied[])[] {
    const evaluation = evaluationOf(flat)
    if (evaluation === undefined) return options.map((option) => [option])
    if (options.length > maxSubsets) {
      const reason = `it depends on which of ${options.length} subschemas of anyOf are valid`
      throw unsupported(evaluation, evaluationKeyword(evaluation)!, reason)
    }
    const subsets = Array.from({length: 2 ** options.length - 1}, (_, index) => index + 1)
    return subsets.map((subset) => options.filter((_, index) => (subset >> index) & 1))
  }

  /** Each subschema with the negations of those that may be valid at the same time. */
  #oneOf(by: Applied, options: readonly Applied[], flat: Flat): readonly (readonly Applied[])[] {
    const fitting = options.filter((option) => this.#mayOverlap(flat, [option]))
    const overlaps = fitting.map((a, i) => fitting.map((b, j) => j > i && this.#mayOverlap(flat, [a, b])))
    return fitting.flatMap((option, i) => {
      const others = fitting.filter((_, j) => overlaps[Math.min(i, j)]![Math.max(i, j)])
      const negated: Applied[] = []
      for (const other of others) {
        const schema = this.#notOfOneOf(by, other.schema)
        if (schema === undefined) return []
        negated.push(this.#unevaluated(by, schema))
      }
      return [[option, ...negated]]
    })
  }

  #notOfOneOf(by: Applied, schema: Subschema): Subschema | undefined {
    try {
      return this.not(schema, by.schema)
    } catch (error) {
      if (!isRefused(error)) throw error
      throw unsupported(by.schema, 'oneOf', `it is not certain that only one subschema is valid (${schema.pointer})`)
    }
  }

  #mayOverlap(flat: Flat, applied: readonly Applied[]): boolean {
    // The choice is refused when its options are known.
    if (this.#applied > maxApplied) return true
    try {
      return this.#run(flat, applied, []).length > 0
    } catch (error) {
      if (!isRefused(error)) throw error
      return true
    }
  }
}

/** A subschema that depends on what others evaluate. */
const evaluationOf = ({leaves}: Flat): Subschema | undefined =>
  leaves.find(({schema}) => evaluationKeyword(schema) !== undefined)?.schema

/** The keyword of a subschema that depends on what others evaluate. */
const evaluationKeyword = ({keywords}: Subschema): string | undefined =>
  ['unevaluatedProperties', 'unevaluatedItems'].find((keyword) => keywords[keyword] !== undefined)

const cycleKeyword = ({keywords}: Subschema): string =>
  Object.keys(keywords).find((each) => /[Rr]ef$|Of$/.test(each)) ?? '$ref'

const isCompound = (value: unknown): boolean => Array.isArray(value) || isObject(value)

const isSubset = (a: ReadonlySet<number>, b: ReadonlySet<number>): boolean => [...a].every((each) => b.has(each))

/** The schema of one array or object. */
function valueSchema(value: unknown): JsonObject {
  if (Array.isArray(value)) {
    const items = value.map((each) => ({const: each}))
    return {
      type: typeOf(value),
      minItems: value.length,
      maxItems: value.length,
      ...(items.length > 0 && {prefixItems: items}),
    }
  }
  const properties = Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, each]) => [name, {const: each}]),
  )
  return {type: 'object', properties, required: Object.keys(properties), additionalProperties: false}
}
