import type {Diagnostics} from '../diagnostics/index.js'
import type {HttpDecl, TypeNode} from '../syntax/index.js'
import type {FunctionType} from './ir.js'
import type {Scope} from './scope.js'
import type {Symbols} from './symbols.js'
import type {RecordType, SumType, Table, Type, VariantType} from './types.js'

/** The declarations of a module, by name. */
export interface Declarations {
  readonly tables: Map<string, Table>
  readonly records: Map<string, RecordType>
  readonly sums: Map<string, SumType>
  /** Several sum types may use the same variant name. */
  readonly variants: Map<string, {sum: SumType; variant: VariantType}[]>
  readonly functions: Map<string, FunctionType>
  readonly routes: {decl: HttpDecl; function: FunctionType}[]
  /** Every function and route with a body, in source order, with the scope of its parameters. */
  readonly bodies: {function: FunctionType; scope: Scope}[]
  /** Resolves a type node. */
  typeOf(node: TypeNode): Type
}

/** The context in which declarations are collected. */
export interface Declaring {
  readonly diagnostics: Diagnostics
  readonly symbols: Symbols | undefined
  readonly declared: Declarations
}
