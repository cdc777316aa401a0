import type {GenerateRequest} from '../llm/index.js'
import {definedEntries, type Fields, isJsonObject} from './body.js'

type ToolUse = NonNullable<GenerateRequest['tools']>
type Tool = ToolUse['tools'][number]

const maxTools = 1024
/** Names are written in chat templates and in tags, so they have no white space and no quotes. */
const toolName = /^[\w.:/-]{1,128}$/

/** What a request states about tools, in any form. */
export interface StatedTools {
  /** The objects that have the name of a tool. */
  named: readonly Fields[]
  /** Name of their field with the schema of the arguments. */
  schema: 'parameters' | 'input_schema'
  choice: 'none' | ToolUse['choice']
  /** Whether a reply may have several calls. */
  parallel: boolean
  /** Those that the messages define. */
  inMessages?: ReadonlySet<Fields>
}

/** The objects of `tools`. @throws bad_request */
export const readToolObjects = (fields: Fields): readonly Fields[] => fields.objects('tools', {max: maxTools}) ?? []

/**
 * The tools of a request, in the form of OpenAI and Ollama; undefined if none may be called.
 * @throws bad_request
 */
export const readTools = (fields: Fields): ToolUse | undefined =>
  toolUse(fields, {
    named: readToolObjects(fields).map(readFunction),
    schema: 'parameters',
    parallel: fields.boolean('parallel_tool_calls') ?? true,
    choice: readChoice(fields),
  })

/**
 * The tools that may be called; undefined if there are none.
 * @throws bad_request
 */
export function toolUse(
  fields: Fields,
  {named, schema, choice, parallel, inMessages}: StatedTools,
): ToolUse | undefined {
  const tools = named.map((tool) => ({
    ...readTool(tool, schema),
    ...(inMessages?.has(tool) ? {isInMessages: true} : {}),
  }))
  const names = new Set<string>()
  for (const [i, {name}] of tools.entries()) {
    if (names.has(name)) throw (named[i] as Fields).wrong('name', 'differ from those of the other tools')
    names.add(name)
  }
  if (typeof choice === 'object') {
    const tool = tools.find(({name}) => name === choice.name)
    if (tool === undefined) throw fields.wrong('tool_choice', `be the name of a tool, not "${choice.name}"`)
    return {tools, choice, parallel: false}
  }
  if (choice === 'required' && tools.length === 0) throw fields.wrong('tools', 'be present if tool_choice is required')
  return tools.length === 0 || choice === 'none' ? undefined : {tools, choice, parallel}
}

function readFunction(tool: Fields): Fields {
  if ((tool.string('type') ?? 'function') !== 'function') throw tool.wrong('type', 'be function')
  const called = tool.object('function')
  if (called === undefined) throw tool.wrong('function', 'be present')
  return called
}

function readTool(tool: Fields, schema: StatedTools['schema']): Tool {
  const name = tool.string('name') ?? ''
  if (!toolName.test(name))
    throw tool.wrong('name', 'have 1 to 128 letters, digits, underscores, dots, colons, slashes or hyphens')
  const parameters = tool.schema(schema)
  return {
    name,
    field: tool.param(schema),
    ...definedEntries({description: tool.string('description'), parameters, strict: tool.boolean('strict')}),
  }
}

/** `none`, `auto`, `required`, or a function by its name. */
function readChoice(fields: Fields): 'none' | ToolUse['choice'] {
  const value = fields.get('tool_choice') ?? 'auto'
  if (value === 'none' || value === 'auto' || value === 'required') return value
  const choice = isJsonObject(value) ? fields.object('tool_choice') : undefined
  const name = choice?.string('type') === 'function' ? choice.object('function')?.string('name') : undefined
  if (name === undefined) throw fields.wrong('tool_choice', 'be none, auto, required, or a function with a name')
  return {name}
}
