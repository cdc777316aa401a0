import type {Span} from '../diagnostics/index.js'
import type {EndpointKind, FunctionDecl, HttpDecl} from '../syntax/index.js'
import type {Column, Index, SumType, Table, TimeKind, Type, VariantType} from './types.js'

/** The expression of a column's default; undefined without one. */
export const defaultOf = ({fallback}: Column): Ir | undefined => fallback as Ir | undefined

/** A variable of a function: first the parameters, then the bindings of `let`, patterns and loops. */
export interface Binding {
  readonly name: string
  type: Type
  readonly slot: number
  readonly mutable: boolean
  /** The number of enclosing lambdas. */
  readonly lambdas: number
  /** True if it is mutable and captured by a lambda: its value is then stored in a separate cell. */
  boxed: boolean
  /** True if elements of its value are assigned: it may then hold a value of its own, which is changed in place. */
  assignsElements?: boolean
  readonly span: Span
}

export interface ParamType {
  readonly name: string
  readonly type: Type
  readonly binding: Binding
  fallback: Ir | undefined
  readonly optional: boolean
  readonly span: Span
}

/** A side effect of a function. */
export interface Effect {
  readonly kind: 'read' | 'write' | 'speech' | 'hash' | 'random'
  /** `db.Task.insert()` */
  readonly what: string
  readonly table: Table | undefined
  readonly span: Span
}

export interface FunctionType {
  readonly name: string
  readonly decl: FunctionDecl | HttpDecl
  readonly params: ParamType[]
  result: Type
  body: Ir | undefined
  /** The number of variables of a call. */
  slots: number
  readonly effects: Effect[]
  /** Its database operations. */
  readonly chains: Chain[]
  readonly calls: {target: FunctionType; span: Span}[]
  readonly span: Span
}

/** An HTTP route. */
export interface Route {
  kind: EndpointKind | 'http'
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With placeholders in braces: `/books/{id}`. */
  path: string
  function: FunctionType
}

/**
 * The checked tree: all names and conversions are resolved, so interpreters and code generators have nothing left to
 * infer.
 */
export type Ir =
  | {kind: 'const'; value: number | string | boolean | null | undefined; type: Type}
  | {kind: 'local'; binding: Binding; type: Type}
  | {kind: 'function'; target: FunctionType; type: Type}
  | {kind: 'list' | 'tuple'; items: readonly Ir[]; type: Type}
  /** Of a record, a row or an unnamed object. */
  | {kind: 'object'; entries: readonly (readonly [string, Ir])[]; type: Type}
  | {kind: 'map'; entries: readonly (readonly [string, Ir])[]; type: Type}
  | {kind: 'variant'; variant: VariantType; sum: SumType; args: readonly (readonly [string, Ir])[]; type: Type}
  | {kind: 'ok' | 'error' | 'some'; value: Ir; type: Type}
  | {kind: 'not' | 'negate'; operand: Ir; type: Type}
  | {kind: 'and' | 'or'; left: Ir; right: Ir; type: Type}
  | {kind: 'arithmetic'; operator: Arithmetic; mode: NumberMode; left: Ir; right: Ir; type: Type}
  | {kind: 'concat'; left: Ir; right: Ir; type: Type}
  | {kind: 'compare'; operator: Comparison; mode: 'plain' | 'dec'; left: Ir; right: Ir; type: Type}
  | {kind: 'if'; condition: Ir; consequent: Ir; otherwise: Ir | undefined; type: Type}
  | {kind: 'match'; subject: Ir; arms: readonly IrArm[]; type: Type}
  | {kind: 'for'; item: IrPattern; index: IrPattern | undefined; list: Ir; body: Ir; type: Type}
  | {kind: 'block'; statements: readonly IrStmt[]; type: Type}
  | {kind: 'lambda'; params: readonly Binding[]; body: Ir; type: Type}
  | {kind: 'call'; target: FunctionType; args: readonly (Ir | undefined)[]; type: Type}
  | {kind: 'apply'; callee: Ir; args: readonly Ir[]; type: Type}
  /** `span`: of an `assert`, for its failure message. */
  | {kind: 'builtin'; name: string; args: readonly Ir[]; span?: Span; type: Type}
  /** `family` is undefined if it is known only at run time. */
  | {kind: 'method'; family: MethodFamily | undefined; name: string; object: Ir; args: readonly Ir[]; type: Type}
  | {kind: 'field'; object: Ir; name: string; of: 'row' | 'record' | 'unknown'; type: Type}
  | {kind: 'index'; object: Ir; index: Ir; of: 'list' | 'str' | 'map' | 'unknown'; type: Type}
  | {kind: 'try'; operand: Ir; of: 'result' | 'option'; type: Type}
  | {kind: 'settle'; how: 'plain' | 'result'; value: Ir; type: Type}
  | {kind: 'db'; chain: Chain; type: Type}

export type IrOf<K extends Ir['kind']> = Ir & {kind: K}

export type MethodFamily =
  | ('list' | 'str' | 'int' | 'float' | 'dec' | 'option' | 'result' | 'map' | 'json' | 'request')
  | TimeKind
export type Arithmetic = '+' | '-' | '*' | '/' | '%'
export type NumberMode = 'int' | 'float' | 'dec' | 'unknown'
export type Comparison = 'is' | 'isnt' | '<' | '>' | '<=' | '>='

export interface IrArm {
  pattern: IrPattern
  guard: Ir | undefined
  body: IrStmt
}

export type IrPattern =
  | {kind: 'any'}
  | {kind: 'bind'; binding: Binding}
  | {kind: 'literal'; value: number | string | boolean}
  | {kind: 'none'}
  | {kind: 'some' | 'ok' | 'error'; of: IrPattern}
  | {kind: 'variant'; tag: string; fields: readonly (readonly [string, IrPattern])[]}
  | {kind: 'tuple'; items: readonly IrPattern[]}

export type IrStmt =
  | {kind: 'let'; pattern: IrPattern; value: Ir}
  | {kind: 'assign'; binding: Binding; value: Ir}
  /** `items[index] = value` assigns a changed copy of the list or map. */
  | {kind: 'assign_element'; binding: Binding; of: 'list' | 'map'; index: Ir; value: Ir}
  | {kind: 'return'; value: Ir | undefined}
  | {kind: 'while'; condition: Ir; body: Ir}
  | {kind: 'loop'; body: Ir}
  | {kind: 'break' | 'continue'}
  | {kind: 'expr'; value: Ir}

// Database operations

export type ChainOp =
  | 'insert'
  | 'upsert'
  | 'get'
  | 'delete'
  | 'update'
  /** Of all rows that match a predicate. */
  | 'delete_where'
  | 'update_where'
  | 'all'
  | 'filter_record'
  | 'count'
  | 'exists'
  /** One row of totals. */
  | 'aggregate'
  /** One row for each group. */
  | 'group'
  /** Some rows, and a cursor for those that follow. */
  | 'page'
  | 'unsafe_query_raw_clause'

export type Predicate =
  | {kind: 'and' | 'or'; args: readonly Predicate[]}
  | {kind: 'not'; arg: Predicate}
  | {kind: 'eq' | 'neq' | 'lt' | 'lte' | 'gt' | 'gte'; column: Column; value: Ir}
  | {kind: 'contains'; column: Column; value: Ir}
  | {kind: 'in'; column: Column; values: readonly Ir[] | Ir}
  | {kind: 'is_null'; column: Column; value: boolean | Ir}
  /** Without an index, the terms are matched as substrings. */
  | {kind: 'matches'; column: Column; value: Ir; index: Index | undefined}
  | {kind: 'near'; column: Column; value: Ir; index: Index}
  | {kind: 'starts_with'; column: Column; value: Ir}
  /** True if the value is None; else `arg`, which uses the value. */
  | {kind: 'maybe'; value: Ir; arg: Predicate}
  /** A condition on the row that an id refers to. */
  | {kind: 'refers'; column: Column; table: Table; arg: Predicate}

export type RetrievalMode = 'fts' | 'vector' | 'hybrid'

export type AggregateFunction = 'count' | 'sum' | 'avg' | 'min' | 'max'

/** A total of the rows, or of those of a group. */
export interface Aggregate {
  readonly fn: AggregateFunction
  /** Undefined: the rows themselves are counted. */
  readonly column: Column | undefined
  readonly output: Column
}

/** How rows are summarised. */
export interface Grouping {
  /** Rows with equal values of these columns are in one group. */
  readonly by: readonly Column[]
  readonly aggregates: readonly Aggregate[]
  /** The columns of the result: those of the groups, then the totals. */
  readonly output: Table
  /** True if a result is the value of its only column. */
  readonly isSingle: boolean
  having: Predicate | undefined
}

/** Rows of another table that are read with a row. */
export interface Included {
  readonly name: string
  readonly table: Table
  /** `one`: the row that a column refers to. `many`: the rows whose column refers to this row. */
  readonly how: 'one' | 'many'
  readonly column: Column
}

/** A value that is written to a column. */
export interface ColumnChange {
  readonly column: Column
  readonly value: Ir
  /** Whether the value is added to that of the row. */
  readonly increments: boolean
}

/** A chain of calls on a table as written in the source; the input of the planner. */
export interface Chain extends Span {
  /** The name of the enclosing function. */
  fn: string
  table: Table
  op: ChainOp
  id: Ir | undefined
  /** The row that `insert` and `upsert` add: a value for each listed column, or a complete record. */
  record: readonly (readonly [Column, Ir])[] | Ir | undefined
  changes: readonly ColumnChange[]
  /** Of `upsert`: the unique index that decides whether the row exists. */
  key: Index | undefined
  predicate: Predicate | undefined
  orderBy: (readonly [Column, 'asc' | 'desc'])[]
  limit: Ir | undefined
  offset: Ir | undefined
  /** Of `page`: the cursor, an `Option[str]`. */
  after: Ir | undefined
  /** The columns of `group_by`, until their totals are known. */
  groupBy: readonly Column[] | undefined
  grouping: Grouping | undefined
  included: readonly Included[]
  select: readonly Column[] | undefined
  sync: boolean
  using: RetrievalMode | undefined
  live: string | undefined
  scope: string | undefined
}
