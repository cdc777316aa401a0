import type {Database} from 'better-sqlite3'
import type {FunctionType} from '../check/index.js'
import {Compiler} from './compile.js'
import {Connection} from './connection.js'
import {Context, defaultLimits} from './context.js'
import type {Value} from './value.js'

/**
 * Compiles a function that neither waits nor uses the database to a JavaScript function. Each call has its own limits.
 */
export function pureFunction(target: FunctionType, database: Database): (...args: readonly Value[]) => Value {
  const handler = new Compiler(new Map()).handler(target)
  const connection = new Connection(database)
  const ports = {log: () => undefined, env: {}}
  return (...args) => {
    const deadline = performance.now() + defaultLimits.timeoutMs
    return handler(new Context(connection, {ports, limits: defaultLimits, deadline}), args)
  }
}
