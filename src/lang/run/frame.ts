import type {Binding, Chain, FunctionType, Ir} from '../check/index.js'
import type {Context} from './context.js'
import type {Operation} from './operation.js'
import type {Value} from './value.js'

/** A call that runs: its variables, and what it returns once it does. */
export interface Frame {
  slots: Value[]
  /** Also the value of a construct, between its last expression and the construct itself. */
  result: Value
  readonly context: Context
}

export type Eval = (frame: Frame) => Value

/** How a statement ended. */
export const normal = 0
export const broke = 1
export const continued = 2
export const returned = 3
/** The construct has its value. */
export const valued = 4
export type Completion = typeof normal | typeof broke | typeof continued | typeof returned | typeof valued
export type Exec = (frame: Frame) => Completion

/** A `return`, `break` or `continue` from within an expression: thrown, and caught where it leads. */
export class Jump {
  readonly completion: Completion
  constructor(completion: Completion) {
    this.completion = completion
  }
}
export const jumps = [undefined, new Jump(broke), new Jump(continued), new Jump(returned), undefined] as const

/** A mutable variable that a lambda sees. */
export interface Cell {
  value: Value
}

export type Store = (frame: Frame, value: Value) => void

/** Gives a variable its first value. */
export function storeOf({slot, boxed}: Binding): Store {
  return boxed
    ? ({slots}, value) => {
        slots[slot] = {value} satisfies Cell
      }
    : ({slots}, value) => {
        slots[slot] = value
      }
}

/** A function that runs; arguments in the order of its parameters, undefined where the default counts. */
export type Handler = (context: Context, args: readonly Value[]) => Value

/** What becomes of the value in the last place of a construct. */
export type Use = 'return' | 'value' | 'ignore'

/** What the parts of the compiler need of each other. */
export interface Compiling {
  handler(target: FunctionType): Handler
  /** An expression as a value: `return` and `break` in it leave by a jump. */
  value(ir: Ir): Eval
  /** An expression as a statement: control passes through it without being thrown. */
  control(ir: Ir, use: Use): Exec
  operation(chain: Chain): Operation<Frame>
}
