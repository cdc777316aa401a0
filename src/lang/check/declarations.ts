import type {Diagnostic, Diagnostics} from '../diagnostics/index.js'
import type {ConstDecl, Expr, TypeNode} from '../syntax/index.js'
import type {FunctionType, Ir, Route} from './ir.js'
import type {Symbols} from './symbols.js'
import type {Column, Condition, Index, RecordType, SumType, Table, Type, VariantType} from './types.js'

/** A constant. Its value replaces each use. */
export interface Constant {
  readonly decl: ConstDecl
  /** Undefined before it is checked, or if it has an error. */
  value: Ir | undefined
  /** Why it has no value. Reported where the constant is used; if it is not, it may belong to another dialect. */
  fault: Diagnostic | undefined
  isUsed: boolean
  /** Later declarations of the name. */
  readonly repeated: ConstDecl[]
}

/** The declarations of a module, by name. */
export interface Declarations {
  readonly tables: Map<string, Table>
  readonly records: Map<string, RecordType>
  readonly sums: Map<string, SumType>
  /** Several sum types may use the same variant name. */
  readonly variants: Map<string, {sum: SumType; variant: VariantType}[]>
  readonly functions: Map<string, FunctionType>
  readonly constants: Map<string, Constant>
  /** The defaults of columns, until they are checked. */
  readonly defaults: {column: Column; expr: Expr}[]
  /** The conditions of columns and indexes, until they are checked. */
  readonly conditions: {table: Table; target: {check?: Condition} | {where?: Condition}; expr: Expr}[]
  /** In source order, like the following lists. */
  readonly indexes: Index[]
  readonly routes: Route[]
  readonly tests: FunctionType[]
  /** Every function and route with a body. */
  readonly bodies: FunctionType[]
  /** Resolves a type node; reports errors to the diagnostics of the program by default. */
  typeOf(node: TypeNode, diagnostics?: Diagnostics): Type
}

/** The context in which declarations are collected. */
export interface Declaring {
  readonly diagnostics: Diagnostics
  readonly symbols: Symbols | undefined
  readonly declared: Declarations
}
