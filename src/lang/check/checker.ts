import type {DiagnosticCode, Diagnostics, Span} from '../diagnostics/index.js'
import type {Expr} from '../syntax/index.js'
import type {Declarations} from './declarations.js'
import type {FunctionType, Ir} from './ir.js'
import type {Scope} from './scope.js'
import type {Symbols} from './symbols.js'
import {result, type Slot, type Type, unknown} from './types.js'

/** The enclosing function or lambda: the target of `return` and `?`, with the loops for `break` and `continue`. */
export interface Frame {
  readonly result: Type
  /** True for a lambda without a declared result type, which is inferred from its `return` statements. */
  readonly open: boolean
  readonly returned: Type[]
  /** The enclosing loops, and whether a `break` leaves them. */
  readonly loops: {broken: boolean}[]
  /** Control can reach the end of the body without a value. */
  fallsThrough: boolean
}

/**
 * Checks the expressions of one function. Checking is bidirectional: an expected type, if known, is passed down.
 * The modules of the checker call each other only through this interface.
 */
export interface Checker extends Pick<Diagnostics, 'report'> {
  readonly declarations: Declarations
  readonly scope: Scope
  readonly symbols: Symbols | undefined
  readonly source: string
  readonly function: FunctionType
  frame: Frame

  /** Checks an expression against an expected type and reports a mismatch. */
  check(expr: Expr, expected: Type, slot?: Slot, code?: DiagnosticCode): Ir
  /** Checks an expression whose value is used; the outcome of a database operation becomes its plain value. */
  value(expr: Expr, expected?: Type): Ir
  /** Infers the type of an expression. `tail`: it ends the function, so a missing value is a missing return. */
  infer(expr: Expr, expected?: Type, slot?: Slot, tail?: boolean): Ir
  mismatch(span: Span, found: Type, expected: Type, code?: DiagnosticCode): void
}

/** Replaces an expression that has been reported. */
export const nothing: Ir = {kind: 'const', value: undefined, type: unknown}

/** The value of a database operation; its failure ends the function. */
export const plain = (ir: Ir): Ir =>
  ir.type.kind === 'outcome' ? {kind: 'settle', how: 'plain', value: ir, type: ir.type.of} : ir

/** The outcome of a database operation as a `Result`; anything else is unchanged. */
export const handled = (ir: Ir): Ir =>
  ir.type.kind === 'outcome' ? {kind: 'settle', how: 'result', value: ir, type: result(ir.type.of, unknown)} : ir
