import type {ToolCall} from '../text/index.js'
import {definedEntries, Fields} from './body.js'

/**
 * Reads the tool calls of a message of the assistant, which the chat template renders. Arguments are an object, or in the
 * OpenAI API the text of one; other text is kept, because it was generated.
 * @throws bad_request
 */
export function readToolCalls(message: Fields): {tool_calls?: ToolCall[]} {
  const calls = (message.objects('tool_calls') ?? []).map((call) => {
    const called = call.object('function')
    const name = called?.string('name')
    if (called === undefined || name === undefined) throw call.wrong('function', 'be a function with a name')
    const id = call.string('id')
    return {...definedEntries({id}), type: 'function' as const, function: {name, arguments: readArguments(called)}}
  })
  return calls.length === 0 ? {} : {tool_calls: calls}
}

/** The arguments of a call. @throws bad_request */
export function readArguments(called: Fields): ToolCall['function']['arguments'] {
  const text = called.get('arguments')
  if (typeof text !== 'string') return called.object('arguments')?.json() ?? {}
  const value = parsed(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return text
  return new Fields(value, `${called.param('arguments')}.`).json()
}

/** The value of a JSON text; undefined if it is none. An empty text stands for no arguments. */
function parsed(text: string): unknown {
  if (text === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
