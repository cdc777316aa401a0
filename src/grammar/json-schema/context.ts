import type {Expression} from '../grammar.js'
import type {Punctuation} from '../json/text.js'
import type {SchemaDocument, Subschema} from './document.js'
import type {Expansion} from './expand.js'
import type {Scalar} from './literals.js'

/** What the compilers of objects and arrays use. */
export interface Context {
  readonly document: SchemaDocument
  readonly expansion: Expansion
  readonly punctuation: Punctuation
  /** The values that satisfy all subschemas, as a rule. */
  readonly value: (schemas: readonly Subschema[]) => Expression
  /** True if certainly no value satisfies all subschemas. */
  readonly isNothing: (schemas: readonly Subschema[]) => boolean
  /** The rule with a key; it is made at the first use. */
  readonly rule: (key: string, make: () => Expression) => Expression
  /** The schema of the values that are invalid for a schema; undefined if there are none. */
  readonly not: (schema: Subschema, negatedBy: Subschema) => Subschema | undefined
  /** The scalars that satisfy all subschemas, if these list them. */
  readonly scalarValues: (schemas: readonly Subschema[]) => readonly Scalar[] | undefined
  readonly nextId: () => number
}
