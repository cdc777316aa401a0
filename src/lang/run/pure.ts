import type {FunctionType, Ir} from '../check/index.js'
import {Compiler} from './compile.js'
import {Connection} from './connection.js'
import {Context, defaultLimits} from './context.js'
import type {Value} from './value.js'

/**
 * Compiles a function that neither waits nor uses the database to a JavaScript function. Each call has its own limits.
 */
export function pureFunction(target: FunctionType): (...args: readonly Value[]) => Value {
  const handler = new Compiler(new Map()).handler(target)
  const ports = {log: () => undefined, env: {}}
  return (...args) => {
    const deadline = performance.now() + defaultLimits.timeoutMs
    return handler(new Context(unused, {ports, limits: defaultLimits, deadline}), args)
  }
}

/** Compiles an expression without variables. */
export function pureValue(ir: Ir): () => Value {
  const evaluate = new Compiler(new Map()).value(ir)
  const ports = {log: () => undefined, env: {}}
  return () => {
    const deadline = performance.now() + defaultLimits.timeoutMs
    return evaluate({
      slots: [],
      result: undefined,
      context: new Context(unused, {ports, limits: defaultLimits, deadline}),
    })
  }
}

/** A pure function has no statements to prepare. */
const unused = new Connection(undefined as never)
