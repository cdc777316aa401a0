import {Flags} from '@oclif/core'
import {SvcError} from '../errors/index.js'
import type {GenerateRequest} from '../llm/index.js'
import {readInput} from './input.js'

type ToolUse = NonNullable<GenerateRequest['tools']>
type Tool = ToolUse['tools'][number]

/** Flags that state which tools a reply may call. */
export const toolFlags = {
  tools: Flags.string({
    description: 'Tools that may be called, a JSON list in the form of OpenAI; - reads standard input.',
    helpValue: 'FILE',
    exclusive: ['raw'],
  }),
  'tool-choice': Flags.string({
    description: 'auto, required or the name of a tool that must be called. (default: auto)',
    helpValue: 'CHOICE',
    dependsOn: ['tools'],
  }),
}

interface ToolFlagValues {
  tools?: string | undefined
  'tool-choice'?: string | undefined
}

/** The tools that flags state. @throws document_unparsable, tool_choice_unknown; what `readInput` throws */
export async function readTools(
  {tools: path, 'tool-choice': choice = 'auto'}: ToolFlagValues,
  signal: AbortSignal,
): Promise<ToolUse | undefined> {
  if (path === undefined) return undefined
  const subject = path === '-' ? 'standard input' : path
  const unreadable = (reason: string, cause?: unknown) =>
    new SvcError('document_unparsable', {subject, reason}, {cause})
  const text = (await readInput(path, signal)).toString()
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw unreadable((error as Error).message, error)
  }
  if (!Array.isArray(value) || value.length === 0) throw unreadable('it must be a list of tools')
  const tools = value.map((each, i) => {
    const tool = asTool(each)
    if (tool === undefined) throw unreadable(`tool ${i + 1} must be a function with a name`)
    return tool
  })
  if (choice === 'auto' || choice === 'required') return {tools, choice, parallel: true}
  const names = tools.map(({name}) => name)
  if (!names.includes(choice)) throw new SvcError('tool_choice_unknown', {name: choice, names: names.join(', ')})
  return {tools, choice: {name: choice}, parallel: false}
}

/** A function, by itself or within a tool of OpenAI. */
function asTool(value: unknown): Tool | undefined {
  const {function: called = value} = Object(value) as {function?: unknown}
  const {name, description, parameters} = Object(called) as Readonly<Record<string, unknown>>
  if (typeof name !== 'string' || !/^[\w.:/-]{1,128}$/.test(name)) return undefined
  return {
    name,
    ...(typeof description === 'string' ? {description} : {}),
    ...(parameters === undefined || parameters === null ? {} : {parameters}),
  }
}
