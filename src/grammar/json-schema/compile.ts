import {SvcError} from '../../errors/index.js'
import type {Expression, Grammar, Pattern} from '../grammar.js'
import {lexeme, type Punctuation, punctuation, type Whitespace} from '../json/text.js'
import {jsonRules} from '../json/value.js'
import {either as eitherPattern, text} from '../pattern/build.js'
import {allSteps, type Steps} from '../steps.js'
import {arrayExpression, isArrayEmpty} from './arrays.js'
import type {Context} from './context.js'
import {SchemaDocument, type Subschema} from './document.js'
import {Expansion} from './expand.js'
import {either} from './expressions.js'
import type {Flat} from './flat.js'
import {isAssertion, tooLarge, unsupported} from './keywords.js'
import type {Scalar} from './literals.js'
import {isNumberEmpty, multipleRefusal, numberExpression, numberValues} from './numbers.js'
import {isObjectEmpty, objectExpression} from './objects.js'
import {hasNoLength, isStringEmpty, stringPattern, stringValues} from './strings.js'

export interface SchemaOptions {
  /** Default: `bounded`. */
  readonly whitespace?: Whitespace
  /** How values are written; default: as JSON with that whitespace. */
  readonly notation?: Punctuation
}

const maxRules = 100_000
/** Levels of required values that are searched for contradictions. */
const emptyDepth = 2
/** Alternatives of one value that are each an intersection of patterns. */
const maxPatterned = 64
/** Conjunctions whose patterns are searched for a string; later ones count as possible, and the engine decides. */
const maxSearches = 50

/**
 * Compiles a JSON Schema (2020-12; earlier drafts where `$schema` names them) to the grammar of the JSON texts of its
 * values. Properties are written in the order of the schema, each character of a string in one spelling, and numbers with a bound
 * without exponent. What the grammar cannot enforce is refused, never ignored.
 *
 * @throws schema_invalid, schema_keyword_unsupported, schema_too_large, schema_unsatisfiable
 */
export const schemaGrammar = (schema: unknown, options: SchemaOptions = {}): Grammar =>
  allSteps(schemaGrammarInSteps(schema, options))

/** `schemaGrammar` in steps: one for each subschema and each property. */
export const schemaGrammarInSteps = (
  schema: unknown,
  {whitespace = 'bounded', notation = punctuation(whitespace)}: SchemaOptions = {},
): Steps<Grammar> => new Compiler(schema, notation).compile()

/**
 * The characters of the strings that are valid for a schema; undefined if it also allows other values.
 * @throws as `schemaGrammar`
 */
export const stringsOfSchema = (schema: unknown): Pattern | undefined =>
  new Compiler(schema, punctuation('none')).strings()

class Compiler implements Context {
  readonly document: SchemaDocument
  readonly expansion: Expansion
  readonly punctuation: Punctuation
  readonly #rules: Map<string, Expression>
  readonly #queue: (() => void)[] = []
  readonly #names = new Map<string, string>()
  #ids = 0
  #depth = 0
  #searches = 0

  constructor(schema: unknown, notation: Punctuation) {
    this.document = new SchemaDocument(schema)
    this.expansion = new Expansion(this.document, (flat, complete) => this.#isEmptyFlat(flat, complete))
    this.punctuation = notation
    this.#rules = new Map(jsonRules(this.punctuation))
  }

  *compile(): Steps<Grammar> {
    if (this.isNothing([this.document.root])) throw new SvcError('schema_unsatisfiable', {})
    const start = this.value([this.document.root])
    for (let make = this.#queue.pop(); make !== undefined; make = this.#queue.pop()) {
      make()
      yield
      if (this.#rules.size > maxRules) throw tooLarge(this.document.root, '$schema', `${maxRules} rules`)
    }
    this.#rules.set('start', start)
    return {start: 'start', rules: this.#rules}
  }

  strings(): Pattern | undefined {
    const flats = this.expansion.expand([this.document.root])
    if (flats.some(({types}) => types.size !== 1 || !types.has('string'))) return undefined
    return eitherPattern(...flats.map(({string}) => stringPattern(string)))
  }

  readonly value = (schemas: readonly Subschema[]): Expression => {
    const restricting = schemas.filter(({keywords}) => Object.keys(keywords).some(isAssertion))
    if (restricting.length === 0) return {kind: 'rule', name: 'json value'}
    return this.rule(`value ${restricting.map(({id}) => id)}`, () => this.#valueExpression(restricting))
  }

  readonly rule = (key: string, make: () => Expression): Expression => {
    const known = this.#names.get(key)
    if (known !== undefined) return {kind: 'rule', name: known}
    const name = String(this.#names.size)
    this.#names.set(key, name)
    this.#queue.push(() => this.#rules.set(name, make()))
    return {kind: 'rule', name}
  }

  readonly nextId = (): number => this.#ids++

  readonly isNothing = (schemas: readonly Subschema[]): boolean => {
    if (this.#depth >= emptyDepth) return false
    this.#depth++
    try {
      return this.expansion.expand(schemas).length === 0
    } finally {
      this.#depth--
    }
  }

  readonly not = (schema: Subschema, negatedBy: Subschema): Subschema | undefined => {
    return this.expansion.not(schema, negatedBy)
  }

  /** The scalars that satisfy all subschemas, if these list them. */
  readonly scalarValues = (schemas: readonly Subschema[]): readonly Scalar[] | undefined => {
    const lists = this.expansion.expand(schemas).map((flat) => {
      const {types, booleans, number, string} = flat
      const numbers = types.has('number') && !isNumberEmpty(number) ? numberValues(number) : []
      const strings = types.has('string') ? stringValues(string) : []
      if (types.has('array') || types.has('object') || numbers === undefined || strings === undefined) return undefined
      return [...(types.has('null') ? [null] : []), ...(types.has('boolean') ? booleans : []), ...numbers, ...strings]
    })
    if (lists.includes(undefined)) return undefined
    return [...new Set(lists.flatMap((list) => list ?? []))]
  }

  #valueExpression(schemas: readonly Subschema[]): Expression {
    const options = this.#simpleOptions(schemas)
    if (options !== undefined) return either(...options)
    const flats = this.expansion.expand(schemas)
    const patterned = flats.filter(({types, string}) => types.has('string') && string.patterns.length > 1)
    if (patterned.length > maxPatterned) {
      throw tooLarge(schemas[0]!, 'pattern', `${maxPatterned} combinations of patterns`)
    }
    return either(...flats.flatMap((flat) => this.#flatExpressions(flat)))
  }

  /** Alternatives of a subschema that has no other keywords are rules of their own. */
  #simpleOptions(schemas: readonly Subschema[]): Expression[] | undefined {
    const [only, ...others] = schemas
    if (only === undefined || others.length > 0) return undefined
    const [keyword, ...more] = Object.keys(only.keywords).filter(isAssertion)
    if (more.length > 0) return undefined
    if (keyword === 'anyOf') {
      return (only.keywords.anyOf as unknown[]).map((_, index) =>
        this.value([this.document.child(only, 'anyOf', index)]),
      )
    }
    return keyword === '$ref' ? [this.value([this.document.resolve(only, '$ref')])] : undefined
  }

  #flatExpressions(flat: Flat): Expression[] {
    const {types, booleans, number, string} = flat
    const options: Expression[] = []
    if (types.has('null')) options.push(lexeme(text('null')))
    if (types.has('boolean')) options.push(...booleans.map((value) => lexeme(text(String(value)))))
    if (types.has('number') && !isNumberEmpty(number)) {
      const reason = multipleRefusal(number)
      if (reason !== undefined) {
        const {schema} = flat.leaves.find((leaf) => leaf.schema.keywords.multipleOf !== undefined)!
        throw unsupported(schema, 'multipleOf', reason)
      }
      options.push(numberExpression(number, (key, make) => this.rule(key, make)))
    }
    if (types.has('string') && !hasNoLength(string)) options.push(this.punctuation.string(stringPattern(string)))
    if (types.has('array')) options.push(arrayExpression(this, flat))
    if (types.has('object')) options.push(objectExpression(this, flat))
    return options
  }

  #isEmptyFlat(flat: Flat, complete: boolean): boolean {
    if (this.#depth > emptyDepth) return false
    const {types, booleans, number, string} = flat
    const isEmpty = (schemas: readonly Subschema[]) => this.isNothing(schemas)
    return (
      !types.has('null') &&
      (!types.has('boolean') || booleans.length === 0) &&
      (!types.has('number') || isNumberEmpty(number)) &&
      (!types.has('string') ||
        (complete && this.#searches++ < maxSearches ? isStringEmpty(string) : hasNoLength(string))) &&
      (!types.has('array') || isArrayEmpty(this, flat, isEmpty)) &&
      (!types.has('object') || isObjectEmpty(this, flat, isEmpty))
    )
  }
}
