import {isObject} from '../../contracts/index.js'
import {nearest, SvcError} from '../../errors/index.js'
import {parseExactJson} from '../../files/index.js'
import type {InputType, Workflow} from './definition.js'

/**
 * The input of a run with the defaults of the workflow.
 * @throws workflow_input_invalid
 */
export function completeInput(
  {name: workflow, inputs}: Workflow,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(inputs, name))
  if (unknown !== undefined) {
    const suggestion = nearest(unknown, Object.keys(inputs))
    const hint = suggestion === undefined ? '' : ` (did you mean ${suggestion}?)`
    throw new SvcError('workflow_input_invalid', {
      workflow,
      name: unknown,
      reason: `the workflow has no such input${hint}`,
    })
  }
  const entries = Object.entries(inputs).map(([name, row]) => {
    const value = given[name] ?? row.fallback
    if (value === undefined) throw new SvcError('workflow_input_invalid', {workflow, name, reason: 'it is required'})
    if (!matches[row.type](value))
      throw new SvcError('workflow_input_invalid', {workflow, name, reason: `it must be of type ${row.type}`})
    return [name, value] as const
  })
  return Object.fromEntries(entries)
}

/** Whether a value has a type of an input. */
export const matches: Readonly<Record<InputType['type'], (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isSafeInteger,
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: (value) => isObject(value),
}

/** The value of a text on the command line: text unchanged, other types as JSON. Undefined if it is not JSON. */
export function inputFromText({name: workflow, inputs}: Workflow, name: string, text: string): unknown {
  if (inputs[name]?.type === 'string') return text
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  try {
    return parseExactJson(text)
  } catch (error) {
    throw new SvcError('workflow_input_invalid', {workflow, name, reason: (error as Error).message})
  }
}
