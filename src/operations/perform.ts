import {type Check, compileSchema, type Schema} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {type BindingNames, bindingSchema, toInput} from './bindings.js'
import type {OperationContext} from './context.js'
import type {Operation} from './operation.js'

/** An operation as one face offers it. */
export interface Call {
  readonly operation: Operation
  /** How it is called here: a method, a tool, a command. */
  readonly name: string
  /** What it takes here. */
  readonly schema: Schema
  /**
   * Holds what was given to the schema, and does it. The first call compiles the schema.
   * @throws params_invalid, and what the operation throws
   */
  perform(given: unknown, context: OperationContext): unknown
  /**
   * Does it with what is known to have the shape of the schema, such as flags that were made from it. Limits of length
   * are not held: loading the validator would take a command longer than all else that it does.
   * @throws what the operation throws
   */
  run(given: Readonly<Record<string, unknown>>, context: OperationContext): unknown
}

/** @param name how the operation is called by a face, @param names what its members are called there */
export function createCall(operation: Operation, name: string, names: BindingNames = {}): Call {
  const schema = bindingSchema(operation.input, names)
  let check: Check | undefined
  let compiling: Promise<Check> | undefined
  const run = (given: Readonly<Record<string, unknown>>, context: OperationContext): unknown =>
    operation.run(toInput(given, names.renames) as never, context)
  const checked = (given: unknown, context: OperationContext): unknown => {
    const violations = check?.(given) ?? []
    if (violations.length > 0) throw new SvcError('params_invalid', {operation: name, violations})
    return run(given as Record<string, unknown>, context)
  }
  return {
    operation,
    name,
    schema,
    run,
    perform(given, context) {
      if (check !== undefined) return checked(given, context)
      // Who calls while the first call compiles waits for the same.
      compiling ??= compileSchema(schema, name)
      return compiling.then((compiled) => {
        check = compiled
        return checked(given, context)
      })
    },
  }
}

/**
 * An operation as its command offers it.
 * @throws TypeError where no command takes its flags from the input: a fault of the table
 */
export function commandCall(operation: Operation): Call {
  const {cli} = operation.bindings
  if (cli === undefined || cli.own) throw new TypeError(`no command is made of ${operation.name}`)
  return createCall(operation, `svc ${cli.command}`, cli)
}
