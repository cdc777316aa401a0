import type {GenerateRequest} from '../llm/index.js'
import {definedEntries, type Fields, isJsonObject} from './body.js'

type ToolUse = NonNullable<GenerateRequest['tools']>
type Tool = ToolUse['tools'][number]

const maxTools = 1024
/** Names are written in chat templates and in tags, so they have no white space and no quotes. */
const toolName = /^[\w.:/-]{1,128}$/

/**
 * The tools of a request, in the form of OpenAI and Ollama; undefined if none may be called.
 * @throws bad_request
 */
export function readTools(fields: Fields): ToolUse | undefined {
  const tools = (fields.objects('tools', {max: maxTools}) ?? []).map(readTool)
  const parallel = fields.boolean('parallel_tool_calls') ?? true
  const names = new Set<string>()
  for (const [i, {name}] of tools.entries()) {
    if (names.has(name)) throw fields.wrong(`tools[${i}].function.name`, 'differ from those of the other tools')
    names.add(name)
  }
  const choice = readChoice(fields)
  if (typeof choice === 'object') {
    const tool = tools.find(({name}) => name === choice.name)
    if (tool === undefined) throw fields.wrong('tool_choice', `be the name of a tool, not "${choice.name}"`)
    return {tools, choice, parallel: false}
  }
  if (choice === 'required' && tools.length === 0) throw fields.wrong('tools', 'be present if tool_choice is required')
  return tools.length === 0 || choice === 'none' ? undefined : {tools, choice, parallel}
}

function readTool(tool: Fields): Tool {
  if ((tool.string('type') ?? 'function') !== 'function') throw tool.wrong('type', 'be function')
  const called = tool.object('function')
  if (called === undefined) throw tool.wrong('function', 'be present')
  const name = called.string('name') ?? ''
  if (!toolName.test(name))
    throw called.wrong('name', 'have 1 to 128 letters, digits, underscores, dots, colons, slashes or hyphens')
  const parameters = called.schema('parameters')
  return {
    name,
    field: called.param('parameters'),
    ...definedEntries({description: called.string('description'), parameters, strict: called.boolean('strict')}),
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
