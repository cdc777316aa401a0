import type {Diagnostic, Span} from '../diagnostics/index.js'

export interface Name extends Span {
  readonly text: string
}

export type TypeNode =
  | (Span & {kind: 'wildcard'})
  | (Span & {kind: 'named'; name: Name; args: readonly TypeNode[]})
  | (Span & {kind: 'tuple'; items: readonly TypeNode[]})
  | (Span & {kind: 'function'; params: readonly TypeNode[]; result: TypeNode | undefined})

// Declarations

export interface Field extends Span {
  readonly name: Name
  readonly type: TypeNode | undefined
  /** Of a column: its default. */
  readonly fallback?: Expr
  /** Of a column: whether no two rows have the same value. */
  readonly unique?: boolean
  /** Of a column: a condition that each row meets. */
  readonly check?: Expr
  /** Of a column: what happens to a row if the one that it refers to is deleted. */
  readonly onDelete?: Name
  /** Of a column: `@created_at` or `@updated_at`. */
  readonly stamp?: Name
  /** Of a column: its earlier name. */
  readonly was?: Name
}

export interface TableDecl extends Span {
  readonly kind: 'table'
  readonly name: Name
  /** Its earlier name. */
  readonly was: Name | undefined
  readonly fields: readonly Field[]
  readonly doc: string | undefined
}

export interface IndexDecl extends Span {
  readonly kind: 'index'
  readonly style: 'btree' | 'search' | 'vector'
  readonly table: Name
  readonly name: Name
  readonly columns: readonly Name[]
  readonly unique: boolean
  /** Only rows that meet it are in the index. */
  readonly where: Expr | undefined
  readonly dimensions: number | undefined
}

export interface Param extends Span {
  readonly name: Name
  readonly type: TypeNode | undefined
  readonly fallback: Expr | undefined
}

/** Returns the body of a function; undefined if it was skipped to be parsed now, and contains an error. */
export type Body = () => Block | undefined

export type EndpointKind = 'query' | 'mutation' | 'server'

export interface FunctionDecl extends Span {
  readonly kind: 'function'
  readonly name: Name
  readonly params: readonly Param[]
  readonly result: TypeNode | undefined
  readonly body: Body
  /** `invalid` if the kind could not be parsed. */
  readonly endpoint: EndpointKind | 'invalid' | undefined
  readonly test: boolean
  /** True if the head is incomplete, so that the result type is unknown. */
  readonly broken: boolean
  readonly doc: string | undefined
}

export type HttpMethod = 'get' | 'post' | 'put' | 'delete'

export interface HttpDecl extends Span {
  readonly kind: 'http'
  readonly method: HttpMethod
  readonly path: Name
  readonly params: readonly Param[]
  readonly result: TypeNode | undefined
  readonly body: Body
  readonly broken: boolean
  readonly doc: string | undefined
}

export interface RecordDecl extends Span {
  readonly kind: 'record'
  readonly name: Name
  readonly fields: readonly Field[]
  readonly doc: string | undefined
}

export interface Variant extends Span {
  readonly name: Name
  /** Its earlier name. */
  readonly was: Name | undefined
  readonly fields: readonly Field[]
}

export interface SumDecl extends Span {
  readonly kind: 'sum'
  readonly name: Name
  readonly variants: readonly Variant[]
  readonly doc: string | undefined
}

/** `const name = value`. A value with a syntax error is undefined: the declaration may be of another dialect. */
export interface ConstDecl extends Span {
  readonly kind: 'const'
  readonly name: Name
  readonly type: TypeNode | undefined
  readonly value: Expr | undefined
  /** The syntax error of the value. */
  readonly fault: Diagnostic | undefined
  readonly doc: string | undefined
}

export type Decl = ConstDecl | TableDecl | IndexDecl | FunctionDecl | HttpDecl | RecordDecl | SumDecl

export interface Module extends Span {
  readonly decls: readonly Decl[]
  /** Decorators that were skipped, because they have no effect. */
  readonly decorators: readonly Name[]
}

// Statements

export type AssignOperator = '=' | '+' | '-' | '*' | '/'

export type Stmt =
  | (Span & {kind: 'let'; mutable: boolean; pattern: Pattern; type: TypeNode | undefined; value: Expr})
  | (Span & {kind: 'return'; value: Expr | undefined})
  | (Span & {kind: 'while'; condition: Expr; body: Block})
  | (Span & {kind: 'loop'; body: Block})
  | (Span & {kind: 'break'})
  | (Span & {kind: 'continue'})
  | (Span & {kind: 'assign'; target: Expr; operator: AssignOperator; value: Expr})
  | (Span & {kind: 'expr'; value: Expr})

export type Pattern =
  | (Span & {kind: 'any'})
  | (Span & {kind: 'bind'; name: Name})
  | (Span & {kind: 'literal'; value: number | string | boolean; literal: 'int' | 'float' | 'str' | 'bool'})
  | (Span & {kind: 'variant'; name: Name; args: readonly Pattern[] | undefined})
  | (Span & {kind: 'tuple'; items: readonly Pattern[]})

// Expressions. `depth` is the height of the tree below, which the parser limits.

interface Base extends Span {
  readonly depth: number
}

export interface Block extends Base {
  readonly kind: 'block'
  readonly statements: readonly Stmt[]
}

export interface Entry extends Span {
  readonly key: Name
  readonly value: Expr
}

export interface Arg extends Span {
  readonly name: Name | undefined
  readonly value: Expr
}

export interface Arm extends Span {
  readonly pattern: Pattern
  readonly guard: Expr | undefined
  readonly body: Stmt
}

export type BinaryOperator =
  | '|>'
  | 'or'
  | 'and'
  | 'with'
  | 'is'
  | 'isnt'
  | '<'
  | '>'
  | '<='
  | '>='
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'

/** `base`: the value after `...`, whose fields the entries replace. */
export type ObjectExpr = Base & {
  kind: 'object'
  type: Name | undefined
  base: Expr | undefined
  entries: readonly Entry[]
}
export type ListExpr = Base & {kind: 'list'; items: readonly Expr[]}
export type NameExpr = Base & {kind: 'name'; name: Name}
export type MemberExpr = Base & {kind: 'member'; object: Expr; member: Name}
export type CallExpr = Base & {kind: 'call'; callee: Expr; args: readonly Arg[]}
export type BinaryExpr = Base & {kind: 'binary'; operator: BinaryOperator; left: Expr; right: Expr}
export type IfExpr = Base & {kind: 'if'; condition: Expr; consequent: Block; otherwise: Expr | undefined}
export type MatchExpr = Base & {kind: 'match'; subject: Expr; arms: readonly Arm[]}
export type ForExpr = Base & {kind: 'for'; item: Pattern; index: Pattern | undefined; list: Expr; body: Block}
export type LambdaExpr = Base & {
  kind: 'lambda'
  params: readonly Param[]
  result: TypeNode | undefined
  body: Expr
}

export type Expr =
  | (Base & {kind: 'int' | 'float'; value: number})
  | (Base & {kind: 'dec' | 'str'; value: string})
  | (Base & {kind: 'bool'; value: boolean})
  /** `f"{a} {b}"`: literals and other expressions, as one string. */
  | (Base & {kind: 'text'; parts: readonly Expr[]})
  | (Base & {kind: 'unit'})
  | (Base & {kind: 'missing'})
  | (Base & {kind: 'tuple'; items: readonly Expr[]})
  | (Base & {kind: 'unary'; operator: 'not' | '-'; operand: Expr})
  | (Base & {kind: 'index'; object: Expr; index: Expr})
  | (Base & {kind: 'try'; operand: Expr; mark: Span})
  | NameExpr
  | ListExpr
  | ObjectExpr
  | MemberExpr
  | CallExpr
  | BinaryExpr
  | IfExpr
  | MatchExpr
  | ForExpr
  | LambdaExpr
  | Block
