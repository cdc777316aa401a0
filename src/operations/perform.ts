import {type Check, compileSchema, type Schema} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {type BindingNames, bindingSchema, toInput} from './bindings.js'
import type {OperationContext} from './context.js'
import type {Operation} from './operation.js'

/** An operation as called through one binding. */
export interface Call {
  readonly operation: Operation
  /** Name of the method, tool or command. */
  readonly name: string
  /** Schema of its parameters. */
  readonly schema: Schema
  /**
   * Validates the parameters and runs the operation. The first call compiles the schema.
   * @throws params_invalid and the errors of the operation
   */
  perform(params: unknown, context: OperationContext): unknown
  /**
   * Runs the operation with parameters that match the schema already, such as flags derived from it. Length limits are
   * not checked: loading the validator would take longer than the rest of a command.
   * @throws the errors of the operation
   */
  run(params: Readonly<Record<string, unknown>>, context: OperationContext): unknown
}

/**
 * @param name name of the operation in the binding
 * @param names names of its members in the binding
 */
export function createCall(operation: Operation, name: string, names: BindingNames = {}): Call {
  const schema = bindingSchema(operation.input, names)
  let check: Check | undefined
  let compiling: Promise<Check> | undefined
  const run = (params: Readonly<Record<string, unknown>>, context: OperationContext): unknown =>
    operation.run(toInput(params, names.renames) as never, context)
  const ids = idMembers(schema)
  const checked = (sent: unknown, context: OperationContext): unknown => {
    const params = withNumericIds(sent, ids)
    const violations = check?.(params) ?? []
    if (violations.length > 0) throw new SvcError('params_invalid', {operation: name, violations})
    return run(params as Record<string, unknown>, context)
  }
  return {
    operation,
    name,
    schema,
    run,
    perform(params, context) {
      if (check !== undefined) return checked(params, context)
      // Concurrent calls share the compilation.
      compiling ??= compileSchema(schema, name)
      return compiling.then((compiled) => {
        check = compiled
        return checked(params, context)
      })
    },
  }
}

/**
 * Calls an operation of a table by its name.
 * @throws params_invalid, the errors of the operation; TypeError if there is none of this name: a programming error
 */
export function performNamed(
  table: readonly Operation[],
  name: string,
  input: object,
  context: OperationContext,
): unknown {
  const operation = table.find((each) => each.name === name)
  if (operation === undefined) throw new TypeError(`no operation ${name}`)
  return createCall(operation, name).perform(input, context)
}

/**
 * An operation as called by its command.
 * @throws TypeError if no command derives its flags from the input: an error in the table
 */
export function commandCall(operation: Operation): Call {
  const {cli} = operation.bindings
  if (cli === undefined || cli.own) throw new TypeError(`${operation.name} has no generated command`)
  return createCall(operation, `svc ${cli.command}`, cli)
}

/** Names of the members that are numeric ids, or lists of them. */
const idMembers = ({properties = {}}: Schema): string[] =>
  Object.entries(properties as Readonly<Record<string, {type?: unknown; items?: {type?: unknown}}>>)
    .filter(([name, {type, items}]) => /(^|_)ids?$/.test(name) && (type === 'integer' || items?.type === 'integer'))
    .map(([name]) => name)

/** Models often write a numeric id as text. */
function withNumericIds(params: unknown, names: readonly string[]): unknown {
  if (typeof params !== 'object' || params === null) return params
  const members = params as Readonly<Record<string, unknown>>
  const texts = names.filter((name) => [members[name]].flat().some(isNumericText))
  if (texts.length === 0) return params
  const numeric = (value: unknown): unknown => (isNumericText(value) ? Number(value) : value)
  return {
    ...members,
    ...Object.fromEntries(
      texts.map((name) => {
        const value = members[name]
        return [name, Array.isArray(value) ? value.map(numeric) : numeric(value)]
      }),
    ),
  }
}

const isNumericText = (value: unknown): value is string =>
  typeof value === 'string' && /^[1-9]\d{0,15}$/.test(value) && Number.isSafeInteger(Number(value))
