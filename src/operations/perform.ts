import {type Check, compileSchema, type Schema} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import type {OperationContext} from './context.js'
import {type FaceNames, faceSchema, toInput} from './faces.js'
import type {Operation} from './operation.js'

/** An operation as one face offers it. */
export interface Call {
  readonly operation: Operation
  /** How it is called here: a method, a tool. */
  readonly name: string
  /** What it takes here. */
  readonly schema: Schema
  /**
   * Holds what was given to the schema, and does it. The first call compiles the schema.
   * @throws params_invalid, and what the operation throws
   */
  perform(given: unknown, context: OperationContext): unknown
}

/** @param name how the operation is called by a face, @param names what its members are called there */
export function createCall(operation: Operation, name: string, names: FaceNames = {}): Call {
  const schema = faceSchema(operation.input, names)
  let check: Check | undefined
  const run = (given: unknown, context: OperationContext): unknown => {
    const violations = check?.(given) ?? []
    if (violations.length > 0) throw new SvcError('params_invalid', {operation: name, violations})
    return operation.run(toInput(given as Record<string, unknown>, names.renames) as never, context)
  }
  return {
    operation,
    name,
    schema,
    perform(given, context) {
      if (check !== undefined) return run(given, context)
      return compileSchema(schema, name).then((compiled) => {
        check = compiled
        return run(given, context)
      })
    },
  }
}
