import {isObject} from '../contracts/index.js'
import type {ChatMessage, ChatTool, ToolCall} from './chat-request.js'

/** The field `tools` of both APIs. */
export const toolsField = (tools: readonly ChatTool[] = []) =>
  tools.length === 0 ? {} : {tools: tools.map((tool) => ({type: 'function', function: tool}))}

/** How an API writes a message: the Ollama API has arguments as objects, the OpenAI API has them as text. */
export function writtenMessage({role, content, calls, call}: ChatMessage, api: 'ollama' | 'openai'): object {
  const written = calls?.map(({id, name, arguments: values}) => ({
    ...(id === undefined ? {} : {id}),
    type: 'function',
    function: {name, arguments: api === 'openai' ? JSON.stringify(values) : values},
  }))
  return {
    role,
    content,
    ...(written === undefined ? {} : {tool_calls: written}),
    ...(call?.id === undefined ? {} : {tool_call_id: call.id}),
    ...(call === undefined || api === 'openai' ? {} : {tool_name: call.name}),
  }
}

/** The calls in a message of either API; undefined if one is malformed. */
export function readToolCalls(value: unknown): ToolCall[] | undefined {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return undefined
  const calls = value.map(readCall)
  return calls.every((call) => call !== undefined) ? calls : undefined
}

function readCall(value: unknown): ToolCall | undefined {
  const {id, function: called} = Object(value) as {id?: unknown; function?: unknown}
  const {name, arguments: given} = Object(called) as {name?: unknown; arguments?: unknown}
  const values = typeof given === 'string' ? parsed(given) : given
  if (typeof name !== 'string' || !isObject(values)) return undefined
  return {...(typeof id === 'string' ? {id} : {}), name, arguments: values as ToolCall['arguments']}
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
