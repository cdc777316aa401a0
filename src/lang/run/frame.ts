import type {Binding, Chain, FunctionType, Ir} from '../check/index.js'
import type {Context} from './context.js'
import type {Operation} from './operation.js'
import type {Value} from './value.js'

/** A running call: its variables and its result. */
export interface Frame {
  slots: Value[]
  /** The returned value; also passes the value of a construct's last expression to the construct. */
  result: Value
  readonly context: Context
}

export type Eval = (frame: Frame) => Value

/** How a statement ended. */
export const normal = 0
export const broke = 1
export const continued = 2
export const returned = 3
/** The construct has produced its value. */
export const valued = 4
export type Completion = typeof normal | typeof broke | typeof continued | typeof returned | typeof valued
export type Exec = (frame: Frame) => Completion

/** A `return`, `break` or `continue` inside an expression: thrown, and caught at its target. */
export class Jump {
  readonly completion: Completion
  constructor(completion: Completion) {
    this.completion = completion
  }
}
export const jumps = [undefined, new Jump(broke), new Jump(continued), new Jump(returned), undefined] as const

/** A mutable variable captured by a lambda. */
export interface Cell {
  value: Value
}

export type Store = (frame: Frame, value: Value) => void

/** Returns the function that initialises a variable. */
export function storeOf({slot, boxed}: Binding): Store {
  return boxed
    ? ({slots}, value) => {
        slots[slot] = {value} satisfies Cell
      }
    : ({slots}, value) => {
        slots[slot] = value
      }
}

/** Returns the function that reads a variable. */
export const loadOf = ({slot, boxed}: Binding): Eval =>
  boxed ? ({slots}) => (slots[slot] as Cell).value : ({slots}) => slots[slot]

/** Returns the function that assigns a variable that was initialised. */
export const assignOf = ({slot, boxed}: Binding): Store =>
  boxed
    ? ({slots}, value) => {
        ;(slots[slot] as Cell).value = value
      }
    : ({slots}, value) => {
        slots[slot] = value
      }

/** A compiled function; arguments in parameter order, undefined for the default. */
export type Handler = (context: Context, args: readonly Value[]) => Value

/** How the value of a construct's last expression is used. */
export type Use = 'return' | 'value' | 'ignore'

/** The interface between the modules of the compiler. */
export interface Compiling {
  handler(target: FunctionType): Handler
  /** Compiles an expression as a value: `return` and `break` in it throw a jump. */
  value(ir: Ir): Eval
  /** Compiles an expression as a statement: `return` and `break` in it are not thrown. */
  control(ir: Ir, use: Use): Exec
  operation(chain: Chain): Operation<Frame>
}
