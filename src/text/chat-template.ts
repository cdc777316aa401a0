import {SvcError} from '../errors/index.js'
import {JinjaTemplate, RefusedError} from './jinja/index.js'
import type {SpecialTokens} from './special-tokens.js'

/** A message as chat templates see it, which they know from transformers. */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  /** Null only in a message with tool calls. */
  content: string | null
  name?: string
  reasoning_content?: string
  tool_calls?: readonly ToolCall[]
  /** The call that a message of a tool answers. */
  tool_call_id?: string
}

/** A call that the assistant made in an earlier message. */
export interface ToolCall {
  id?: string
  type: 'function'
  function: {name: string; arguments: Readonly<Record<string, unknown>> | string}
}

/** Further variables of a template, JSON values. */
export type TemplateVariables = Readonly<Record<string, unknown>>

/** Marks the end of a message to continue: a Unicode noncharacter, which must not occur in text. */
const endMark = '\uFDD1'

/** Test conversations; a working template accepts at least one of them. */
const trials: readonly (readonly ChatMessage[])[] = [
  [{role: 'user', content: 'x'}],
  [
    {role: 'system', content: 'x'},
    {role: 'user', content: 'x'},
  ],
]

/** The text of a template, or why there is none. */
export type DeclaredTemplate = string | {reason: string}

/** Formats a conversation in the form that the model was trained on. */
export class ChatTemplate {
  /** Set if the template is invalid or uses unsupported features. */
  readonly error: SvcError | undefined
  readonly #template: JinjaTemplate | undefined
  readonly #forTools: JinjaTemplate | undefined
  readonly #specials: SpecialTokens

  /**
   * @param declared text of the template, or why there is none
   * @param file origin of the template, for errors
   * @param forTools text of the template for conversations with tools or their calls, if another one
   */
  constructor(declared: DeclaredTemplate, file: string, specials: SpecialTokens = {}, forTools?: string) {
    this.#specials = specials
    try {
      if (typeof declared !== 'string') throw new Error(declared.reason)
      this.#template = new JinjaTemplate(declared)
      this.#forTools = forTools === undefined ? undefined : new JinjaTemplate(forTools)
      this.#try()
    } catch (error) {
      this.error = new SvcError('chat_template_failed', {file, reason: (error as Error).message}, {cause: error})
    }
  }

  /**
   * The prompt for the assistant's next turn, or, if the last message is from the assistant, for the rest of that turn.
   * It contains special tokens as text.
   * @param tools in the form of transformers
   * @throws chat_template_failed if the template is invalid; chat_refused if it rejects this conversation
   */
  render(
    messages: readonly ChatMessage[],
    variables: TemplateVariables = {},
    tools?: readonly TemplateVariables[],
  ): string {
    return this.#orRefused(() => {
      if (messages.at(-1)?.role !== 'assistant') return this.#render(messages, true, variables, tools)
      const last = messages.length - 1
      const {before, after} = this.#renderMarked(messages, last, `${endMark} `, false, variables, tools)
      // If the template trims messages, trailing white space of the message is dropped, as in transformers.
      return after.startsWith(' ') ? before : before.trimEnd()
    })
  }

  /**
   * The text that follows an answer of the assistant: the end of its turn, then further messages and the start of the next
   * turn. What the template writes before and in the answer is omitted.
   * @param opening messages before the answer
   * @throws as `render`
   */
  renderAfterAnswer(
    opening: readonly ChatMessage[],
    messages: readonly ChatMessage[],
    variables: TemplateVariables = {},
    tools?: readonly TemplateVariables[],
  ): string {
    const conversation = [...opening, {role: 'assistant', content: ''} as const, ...messages]
    return this.#orRefused(
      () => this.#renderMarked(conversation, opening.length, endMark, true, variables, tools).after,
    )
  }

  /** Splits a conversation at the mark, which is written after one of its messages. */
  #renderMarked(
    messages: readonly ChatMessage[],
    at: number,
    mark: string,
    addGenerationPrompt: boolean,
    variables: TemplateVariables,
    tools: readonly TemplateVariables[] | undefined,
  ): {before: string; after: string} {
    const clean = (text: string) => text.replaceAll(endMark, '\uFFFD')
    const marked = messages.map((each, i) => {
      const message = mapMessage(each, clean)
      return i === at ? {...message, content: (message.content ?? '') + mark} : message
    })
    const cleanTools = tools?.map((tool) => mapVariables(tool, clean))
    const text = this.#render(marked, addGenerationPrompt, mapVariables(variables, clean), cleanTools)
    const end = text.lastIndexOf(endMark)
    if (end === -1) throw new RefusedError('it omits the last message of the assistant')
    return {before: text.slice(0, end), after: text.slice(end + 1)}
  }

  #orRefused(render: () => string): string {
    if (this.error !== undefined) throw this.error
    try {
      return render()
    } catch (error) {
      throw new SvcError('chat_refused', {reason: (error as Error).message.replace(/\.$/, '')}, {cause: error})
    }
  }

  /** Formats a test conversation. The template may reject it, but must not fail. */
  #try(): void {
    let failure: unknown
    for (const messages of trials)
      try {
        this.#render(messages, true, {})
        return
      } catch (error) {
        if (error instanceof RefusedError) return
        failure = error
      }
    throw failure
  }

  /** Variables as in transformers: tools and documents are always defined. */
  #render(
    messages: readonly ChatMessage[],
    addGenerationPrompt: boolean,
    variables: TemplateVariables,
    tools?: readonly TemplateVariables[],
  ): string {
    const template =
      tools === undefined && !messages.some(isOfTool) ? this.#template : (this.#forTools ?? this.#template)
    return (template as JinjaTemplate).render({
      ...this.#specials,
      ...variables,
      messages: messages.map(withThinking),
      tools: tools ?? null,
      documents: null,
      add_generation_prompt: addGenerationPrompt,
    })
  }
}

const isOfTool = ({role, tool_calls: calls}: ChatMessage): boolean => role === 'tool' || calls !== undefined

/** Templates read what the model thought under either name. */
const withThinking = (message: ChatMessage) =>
  message.reasoning_content === undefined ? message : {...message, thinking: message.reasoning_content}

/** Changes the texts of a message that its author wrote, which includes its tool calls. */
export function mapMessage(message: ChatMessage, change: (text: string) => string): ChatMessage {
  const {content, name, reasoning_content: reasoning, tool_calls: calls, tool_call_id: answered} = message
  return {
    ...message,
    content: content === null ? null : change(content),
    ...(name === undefined ? {} : {name: change(name)}),
    ...(reasoning === undefined ? {} : {reasoning_content: change(reasoning)}),
    ...(calls === undefined ? {} : {tool_calls: calls.map((call) => mapCall(call, change))}),
    ...(answered === undefined ? {} : {tool_call_id: change(answered)}),
  }
}

const mapCall = ({id, type, function: called}: ToolCall, change: (text: string) => string): ToolCall => ({
  ...(id === undefined ? {} : {id: change(id)}),
  type,
  function: {name: change(called.name), arguments: mapTexts(called.arguments, change)},
})

/** Changes the texts of variables, but not their names. */
export const mapVariables = (variables: TemplateVariables, change: (text: string) => string): TemplateVariables =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, mapTexts(value, change)]))

/** Changes all texts of a JSON value, also the keys of its objects. */
function mapTexts<T>(value: T, change: (text: string) => string): T
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [change(key), mapTexts(entry, change)]))
}

/**
 * The ChatML template. Sources: the chat markup that OpenAI published in 2023; the form of tool calls that Hermes models
 * were trained with.
 */
export const chatml = `{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content or '' }}{% for call in message.tool_calls %}{{ '\n' if message.content or not loop.first }}<tool_call>
{{ {'name': call.function.name, 'arguments': call.function.arguments} | tojson }}
</tool_call>{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`

type NamedTemplates = readonly ({name?: unknown; template?: unknown} | null)[]

/** What a `chat_template` setting declares: a text, or the entry named `default` of a list. */
export function declaredTemplate(declared: unknown): DeclaredTemplate | undefined {
  if (typeof declared === 'string') return declared
  if (!Array.isArray(declared) || declared.length === 0) return undefined
  const entries = declared as NamedTemplates
  const source = sourceNamed(entries, 'default')
  if (source !== undefined) return source
  const names = entries.map((entry) => String(entry?.name)).join(', ')
  return {reason: `it is a list of named templates without the name default, only ${names}`}
}

/** The entry of a list named `tool_use`, as in transformers. */
export const declaredToolTemplate = (declared: unknown): string | undefined =>
  Array.isArray(declared) ? sourceNamed(declared as NamedTemplates, 'tool_use') : undefined

function sourceNamed(entries: NamedTemplates, name: string): string | undefined {
  const source = entries.find((entry) => entry?.name === name)?.template
  return typeof source === 'string' ? source : undefined
}
