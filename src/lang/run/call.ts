import type {Context} from './context.js'
import {Failure} from './failure.js'
import {type Callable, display, type Value} from './value.js'

/** @throws Failure if a value of unknown type is not a function */
export function callableOf(value: Value): Callable {
  if (typeof value !== 'function') throw new Failure('CONVERSION', `${display(value)} cannot be called`)
  return value as Callable
}

/** Calls a function that a program passed to a method. */
export function call(callable: Value, args: readonly Value[], context: Context): Value {
  context.step()
  return callableOf(callable)(args)
}
