import type {DiagnosticCode, Diagnostics, Span} from '../diagnostics/index.js'
import type {Expr} from '../syntax/index.js'
import type {Declarations} from './declarations.js'
import type {FunctionType, Ir} from './ir.js'
import type {Scope} from './scope.js'
import type {Symbols} from './symbols.js'
import {result, type Slot, type Type, unknown} from './types.js'

/** The function or lambda around an expression: where `return`, `?`, `break` and `continue` lead. */
export interface Frame {
  readonly result: Type
  /** A lambda without a declared type takes whatever its `return` statements have. */
  readonly open: boolean
  readonly returned: Type[]
  /** The loops around this place, and whether `break` leaves them. */
  readonly loops: {broken: boolean}[]
  /** Control reaches the end of the body, without a value. */
  fallsThrough: boolean
}

/**
 * Checks the expressions of one function: bidirectional, each with the type that is expected of it where there is one.
 * The parts of the checker know each other by this interface alone.
 */
export interface Checker extends Pick<Diagnostics, 'report'> {
  readonly declarations: Declarations
  readonly scope: Scope
  readonly symbols: Symbols | undefined
  readonly source: string
  readonly function: FunctionType
  frame: Frame

  /** An expression of which a type is expected: reports one that does not fit. */
  check(expr: Expr, expected: Type, slot?: Slot, code?: DiagnosticCode): Ir
  /** An expression whose value is used, whatever its type: an operation on the database has happened. */
  value(expr: Expr, expected?: Type): Ir
  /**
   * An expression as it is. `tail`: it is the last one of the function, so that a missing value is a missing return.
   */
  infer(expr: Expr, expected?: Type, slot?: Slot, tail?: boolean): Ir
  mismatch(span: Span, found: Type, expected: Type, code?: DiagnosticCode): void
}

/** Stands for an expression that was reported. */
export const nothing: Ir = {kind: 'const', value: undefined, type: unknown}

/** The value of an operation on the database, whose failure ends the function. */
export const plain = (ir: Ir): Ir =>
  ir.type.kind === 'outcome' ? {kind: 'settle', how: 'plain', value: ir, type: ir.type.of} : ir

/** The outcome of an operation on the database as a `Result`; anything else as it is. */
export const handled = (ir: Ir): Ir =>
  ir.type.kind === 'outcome' ? {kind: 'settle', how: 'result', value: ir, type: result(ir.type.of, unknown)} : ir
