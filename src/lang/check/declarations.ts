import type {Diagnostics} from '../diagnostics/index.js'
import type {TypeNode} from '../syntax/index.js'
import type {FunctionType, Route} from './ir.js'
import type {Symbols} from './symbols.js'
import type {Index, RecordType, SumType, Table, Type, VariantType} from './types.js'

/** The declarations of a module, by name. */
export interface Declarations {
  readonly tables: Map<string, Table>
  readonly records: Map<string, RecordType>
  readonly sums: Map<string, SumType>
  /** Several sum types may use the same variant name. */
  readonly variants: Map<string, {sum: SumType; variant: VariantType}[]>
  readonly functions: Map<string, FunctionType>
  /** In source order, like the following lists. */
  readonly indexes: Index[]
  readonly routes: Route[]
  readonly tests: FunctionType[]
  /** Every function and route with a body. */
  readonly bodies: FunctionType[]
  /** Resolves a type node. */
  typeOf(node: TypeNode): Type
}

/** The context in which declarations are collected. */
export interface Declaring {
  readonly diagnostics: Diagnostics
  readonly symbols: Symbols | undefined
  readonly declared: Declarations
}
