import type {Diagnostics} from '../diagnostics/index.js'
import type {HttpDecl, TypeNode} from '../syntax/index.js'
import type {FunctionType} from './ir.js'
import type {Scope} from './scope.js'
import type {Symbols} from './symbols.js'
import type {RecordType, SumType, Table, Type, VariantType} from './types.js'

/** All that a module declares, by name. */
export interface Declarations {
  readonly tables: Map<string, Table>
  readonly records: Map<string, RecordType>
  readonly sums: Map<string, SumType>
  /** A variant's name may be used by several sums. */
  readonly variants: Map<string, {sum: SumType; variant: VariantType}[]>
  readonly functions: Map<string, FunctionType>
  readonly routes: {decl: HttpDecl; function: FunctionType}[]
  /** Every function and route that has a body, in the order of the source, with its scope of parameters. */
  readonly bodies: {function: FunctionType; scope: Scope}[]
  /** What a type in the source means. */
  typeOf(node: TypeNode): Type
}

/** Where declarations are collected. */
export interface Declaring {
  readonly diagnostics: Diagnostics
  readonly symbols: Symbols | undefined
  readonly declared: Declarations
}
