import type {ChatMessage, ChatTemplate} from '../../text/index.js'
import type {Tool} from '../tools.js'
import {type CallFormat, writeCalls} from './call-format.js'
import {callFormats, hermes} from './call-formats.js'
import type {ThinkingTags} from './layout.js'

/** How a model, by its chat template, writes what it thinks and calls of tools. */
export interface ReplyStyle {
  /** Tags of thinking; undefined if the template has none. */
  thinking?: ThinkingTags
  /** What precedes text. */
  content: string
  calls: CallFormat
  /** Whether the template writes tools and calls; else they are written in messages. */
  isNative: boolean
  /** Whether the template writes earlier calls, in any form. */
  showsCalls: boolean
  /** Whether the template writes messages of the system. */
  hasSystem: boolean
}

/** Tags of thinking that templates have: both, or `begin` and the closing one. */
const thinkingTags: readonly (ThinkingTags & {begin?: string})[] = [
  {open: '<think>', close: '</think>', empty: '<think>\n\n</think>\n\n'},
  {open: '[THINK]', close: '[/THINK]', empty: '[THINK][/THINK]'},
  // Gemma 4. Source: "Gemma 4 prompt formatting", Google, 2026.
  {
    begin: '<|channel>',
    open: '<|channel>thought',
    close: '<channel|>',
    empty: '<|channel>thought\n<channel|>',
  },
]

/** Tags of GPT-OSS, which writes messages in channels. */
const channels = {
  thinking: {
    open: '<|channel|>analysis<|message|>',
    close: '<|end|><|start|>assistant',
    empty: '<|channel|>analysis<|message|><|end|><|start|>assistant',
  },
  content: '<|channel|>final<|message|>',
}

const probe: Tool = {
  name: 'probe_tool',
  description: 'A tool',
  parameters: {
    type: 'object',
    properties: {first: {type: 'string', description: 'A text'}},
    required: ['first'],
  },
}
const probeId = 'call_prob'
const call = {name: probe.name, arguments: {first: 'value'}}

/** Reads the style from what the template writes for a call. A template that fails has none. */
export function readStyle(template: ChatTemplate, source: string): ReplyStyle {
  const hasChannels = source.includes(channels.content)
  const thinking = hasChannels
    ? channels.thinking
    : thinkingTags.find(({open, close, begin = open}) => source.includes(begin) && source.includes(close))
  const question: ChatMessage = {role: 'user', content: 'x'}
  const render = (messages: readonly ChatMessage[], tools?: readonly Tool[]): string => {
    try {
      return template.render(messages, {}, tools?.map(asTemplateTool))
    } catch {
      return ''
    }
  }
  const listsTools = render([question], [probe]).includes(probe.name)
  const answer = (content: string | null): ChatMessage[] => [
    question,
    {role: 'assistant', content, tool_calls: [{id: probeId, type: 'function', function: call}]},
    {role: 'tool', content: 'x', name: call.name, tool_call_id: probeId},
  ]
  // Without tools, their names are not in the text, only those of calls.
  const rendered = [null, ''].map((content) => render(answer(content))).join('\0')
  const spaceless = withoutSpace(rendered)
  const format =
    callFormats.find((each) => rendered.includes(beginning(each))) ??
    callFormats.find((each) => spaceless.includes(withoutSpace(beginning(each))))
  return {
    ...(thinking === undefined ? {} : {thinking}),
    content: hasChannels ? channels.content : '',
    calls: (listsTools ? format : undefined) ?? hermes,
    isNative: listsTools && format !== undefined,
    showsCalls: rendered.includes(probe.name),
    hasSystem: render([{role: 'system', content: 'probe_system'}, question]).includes('probe_system'),
  }
}

const withoutSpace = (text: string) => text.replaceAll(/\s/g, '')

function beginning(format: CallFormat): string {
  const {open, prefix, nameEnd} = format
  return format.rendered?.(probe.name) ?? open + prefix + probe.name + nameEnd
}

/** A tool as templates know it from transformers. */
export const asTemplateTool = ({name, description, parameters}: Tool) => ({
  type: 'function',
  function: {
    name,
    ...(description === undefined ? {} : {description}),
    parameters: parameters ?? {type: 'object', properties: {}},
  },
})

/** Writes tools and calls in messages, for a template that does not write them. */
export function withoutTools(
  {calls: format, hasSystem}: Pick<ReplyStyle, 'calls' | 'hasSystem'>,
  messages: readonly ChatMessage[],
  tools: readonly Tool[],
): ChatMessage[] {
  const plain: ChatMessage[] = []
  for (const message of messages) {
    const {role, content, tool_calls: calls = [], name, tool_call_id: _, ...others} = message
    if (role === 'tool') {
      const text = `<tool_response>\n${content ?? ''}\n</tool_response>`
      const last = plain.at(-1)
      const isFurther = last?.role === 'user' && last.content?.startsWith('<tool_response>') === true
      if (isFurther) plain[plain.length - 1] = {...last, content: `${last.content}\n${text}`}
      else plain.push({role: 'user', content: text})
      continue
    }
    const named = name === undefined ? {} : {name}
    const written = calls.map(({function: called}) => ({
      name: called.name,
      arguments: typeof called.arguments === 'string' ? {} : called.arguments,
    }))
    const texts = [content ?? '', ...(written.length === 0 ? [] : [writeCalls(format, written)])]
    plain.push({...others, ...named, role, content: texts.filter((text) => text !== '').join('\n')})
  }
  if (tools.length === 0) return plain
  const text = instructions(format, tools)
  const at = plain.findIndex(({role}) => role === (hasSystem ? 'system' : 'user'))
  const first = plain[at]
  if (first !== undefined) return plain.with(at, {...first, content: `${text}\n\n${first.content}`})
  return [{role: hasSystem ? 'system' : 'user', content: text}, ...plain]
}

function instructions(format: CallFormat, tools: readonly Tool[]): string {
  const list = tools.map((tool) => JSON.stringify(asTemplateTool(tool).function)).join('\n')
  const example = writeCalls(format, [{name: 'NAME', arguments: {ARGUMENT: 'VALUE'}}])
  return `You can call these tools:\n${list}\n\nTo call a tool, reply with its name and arguments like this:\n${example}`
}
