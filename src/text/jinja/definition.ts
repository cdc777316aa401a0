import {budget, TemplateError} from './budget.js'
import {Callable, type Named, typeName, Undefined, type Value} from './values.js'

export type Argument = Value | undefined

/** A function of the template language: the names of its parameters, and what it does with their values. */
export interface Definition<Receiver extends readonly unknown[]> {
  parameters: readonly {name: string; required: boolean}[]
  run: (...args: [...Receiver, ...Argument[]]) => Value
}

/**
 * Defines a function.
 * @param parameters names in order; those with `?` are optional
 */
export function define<Receiver extends readonly unknown[]>(
  parameters: string,
  // biome-ignore lint/suspicious/noExplicitAny: the arguments are checked by the function.
  run: (...args: [...Receiver, ...any[]]) => Value,
): Definition<Receiver> {
  const names = parameters.split(' ').filter(Boolean)
  return {
    parameters: names.map((name) => ({name: name.replace('?', ''), required: !name.endsWith('?')})),
    run,
  }
}

/** Matches arguments to parameters. @throws TemplateError if they do not match */
export function bind(
  name: string,
  {parameters}: Pick<Definition<readonly unknown[]>, 'parameters'>,
  args: readonly Value[],
  named: Named,
): Argument[] {
  if (args.length > parameters.length)
    throw new TemplateError(`${name}() takes at most ${parameters.length} arguments (${args.length} given)`)
  const bound: Argument[] = [...args]
  for (const [key, value] of named) {
    const at = parameters.findIndex((parameter) => parameter.name === key)
    if (at === -1) throw new TemplateError(`${name}() got an unexpected keyword argument '${key}'`)
    if (bound[at] !== undefined) throw new TemplateError(`${name}() got multiple values for argument '${key}'`)
    bound[at] = value
  }
  const missing = parameters.find(({required}, i) => required && bound[i] === undefined)
  if (missing !== undefined) throw new TemplateError(`${name}() missing the argument '${missing.name}'`)
  return bound
}

/** A method of a value. */
export const bindMethod = <T>(name: string, definition: Definition<readonly [T]>, self: T): Callable =>
  new Callable(
    name,
    (args, named) => {
      budget.read(self, ...args, ...named.values())
      return budget.changed(self, definition.run(self, ...bind(name, definition, args, named)))
    },
    'builtin_function_or_method',
  )

export function requireText(value: Argument, what: string): string {
  if (typeof value === 'string') return value
  if (value instanceof Undefined) value.fail()
  throw new TemplateError(`${what} must be str, not ${value === undefined ? 'missing' : typeName(value)}`)
}

export function requireInteger(value: Argument, fallback: number): number {
  if (value === undefined) return fallback
  if (typeof value === 'number') return value
  if (typeof value === 'boolean') return Number(value)
  if (value instanceof Undefined) value.fail()
  throw new TemplateError(`'${typeName(value)}' object cannot be interpreted as an integer`)
}
