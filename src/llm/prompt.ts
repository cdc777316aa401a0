import {counted, isErrorOf, SvcError} from '../errors/index.js'
import {
  type ChatMessage,
  type ChatTemplate,
  type EncodeOptions,
  mapMessage,
  mapVariables,
  type TemplateVariables,
  type Tokenizer,
  TooManyTokens,
} from '../text/index.js'
import type {ModelDefaults} from '../weights/index.js'
import {encodeInsertion, type Insertion} from './insertion.js'
import {asTemplateTool, type ReplyStyle, withoutTools} from './reply/style.js'
import type {GenerateRequest, Prompt} from './request.js'

/** The parts of a model that encode prompts. */
export interface PromptEncoder {
  tokenizer: Tokenizer
  /** Undefined if the model has none; then the messages of a conversation are joined with line breaks. */
  template: ChatTemplate | undefined
  /** Undefined without a template that works. */
  style?: ReplyStyle | undefined
  /** Undefined if the model cannot insert text before a suffix. */
  insertion?: Insertion | undefined
  contextLength: number
}

/**
 * Adds the system message to a conversation without one, and the messages of the model's defaults before the first other
 * one. The context of a continued conversation has its own.
 */
export function withDefaults(prompt: Prompt, {system, messages: examples = []}: Partial<ModelDefaults>): Prompt {
  if (prompt.kind !== 'chat' || prompt.context !== undefined) return prompt
  const hasSystem = [...examples, ...prompt.messages].some(({role}) => role === 'system')
  const opening: ChatMessage[] = system === undefined || hasSystem ? [] : [{role: 'system', content: system}]
  if (opening.length + examples.length === 0) return prompt
  const own = prompt.messages.findIndex(({role}) => role !== 'system')
  const start = own < 0 ? prompt.messages.length : own
  const messages = [...opening, ...prompt.messages.slice(0, start), ...examples, ...prompt.messages.slice(start)]
  return {...prompt, messages}
}

/** Maximum bytes of text per byte of a token: some tokenizers normalise text to fewer bytes. */
const maxShrinking = 4
/** The tokens of a prompt that is too long are counted up to this many contexts, for the error message. */
const countedContexts = 4

/** Maximum bytes of a prompt; a longer one cannot fit in the context. */
export const maxPromptBytes = (longestToken: number, contextLength: number): number =>
  maxShrinking * longestToken * contextLength

/**
 * Limits a prompt to a number of bytes, without encoding it. From a conversation with `drop_oldest`, the oldest turns are
 * dropped until the rest is within the limit.
 * @throws prompt_too_long
 */
export function withinBytes(prompt: Prompt, maxBytes: number, context: number): Prompt {
  switch (prompt.kind) {
    case 'beginning':
      return prompt
    case 'tokens':
      if (prompt.tokens.length > context)
        throw new SvcError('prompt_too_long', {length: counted(prompt.tokens.length, 'token'), context})
      return prompt
    case 'raw':
      requireBytes(Buffer.byteLength(prompt.text), maxBytes, context)
      return prompt
    case 'insertion':
      requireBytes(Buffer.byteLength(prompt.text) + Buffer.byteLength(prompt.suffix), maxBytes, context)
      return prompt
    case 'chat': {
      const {messages, overflow} = prompt
      const sizes = messages.map((message) => Buffer.byteLength(textOf(message)))
      let bytes = sizes.reduce((sum, size) => sum + size, 0)
      const oldest = overflow === 'refuse' ? [] : droppable(messages)
      const dropped = new Set<number>()
      for (const at of oldest) {
        if (bytes <= maxBytes) break
        dropped.add(at)
        bytes -= sizes[at] as number
      }
      requireBytes(bytes, maxBytes, context)
      return dropped.size === 0 ? prompt : {...prompt, messages: messages.filter((_, i) => !dropped.has(i))}
    }
  }
}

/** The texts of a message, in any order. */
function textOf(message: ChatMessage): string {
  const texts: string[] = []
  mapMessage(message, (text) => {
    texts.push(text)
    return text
  })
  return texts.join('')
}

function requireBytes(bytes: number, maxBytes: number, context: number): void {
  if (bytes > maxBytes) throw new SvcError('prompt_too_long', {length: `${bytes} bytes`, context})
}

/** Indexes of the turns that may be dropped, oldest first: all but system messages and the last message. */
const droppable = (messages: readonly ChatMessage[]): number[] =>
  messages.flatMap(({role}, i) => (role !== 'system' && i < messages.length - 1 ? [i] : []))

/**
 * Encodes a prompt.
 * @param check called regularly; its exception aborts the encoding
 * @param reply tools and thinking, which a chat template writes
 * @throws prompt_missing, prompt_empty, prompt_too_long, chat_template_failed, chat_refused; bad_request if a word is too
 *   long, and for an insertion that the model does not support
 */
export function encodePrompt(
  encoder: PromptEncoder,
  prompt: Prompt,
  check?: () => void,
  reply: Pick<GenerateRequest, 'tools' | 'thinking'> = {},
): number[] {
  const {tokenizer, contextLength} = encoder
  const maxTokens = countedContexts * contextLength
  const bounds = {maxTokens, ...(check === undefined ? {} : {check})}
  switch (prompt.kind) {
    case 'beginning': {
      const bos = tokenizer.bos === undefined ? undefined : tokenizer.id(tokenizer.bos)
      if (bos === undefined) throw new SvcError('prompt_missing', {})
      return [bos]
    }
    case 'tokens':
      if (prompt.tokens.length === 0) throw new SvcError('prompt_empty', {})
      return [...prompt.tokens]
    case 'raw': {
      if (prompt.text === '') throw new SvcError('prompt_empty', {})
      const {context = [], text} = prompt
      const encode = () => [...context, ...tokenizer.encode(text, {special: context.length === 0, ...bounds})]
      return requireTokens(encode, maxTokens, contextLength)
    }
    case 'insertion': {
      const {insertion} = encoder
      if (insertion === undefined)
        throw new SvcError('bad_request', {reason: 'this model does not support insert', param: 'suffix'})
      if (prompt.text === '' && prompt.suffix === '') throw new SvcError('prompt_empty', {})
      return requireTokens(() => encodeInsertion(tokenizer, insertion, prompt, bounds), maxTokens, contextLength)
    }
    case 'chat': {
      const {context = [], messages, overflow, variables = {}} = prompt
      const encode = (selected: readonly ChatMessage[], limit: number) => {
        const chat = {messages: selected, context, variables, ...reply}
        return [...context, ...encodeChat(encoder, chat, {...bounds, maxTokens: limit - context.length})]
      }
      const count = (message: ChatMessage) =>
        countTokens(tokenizer, textOf(message), {...bounds, maxTokens: contextLength})
      const encodeAll = () =>
        overflow === 'refuse' ? encode(messages, maxTokens) : fit({encode, count, contextLength, maxTokens}, messages)
      return requireTokens(encodeAll, maxTokens, contextLength)
    }
  }
}

/** Number of tokens of a text on its own, at most `maxTokens`. */
function countTokens(
  tokenizer: Tokenizer,
  text: string,
  {maxTokens, ...bounds}: Omit<EncodeOptions, 'special'> & {maxTokens: number},
): number {
  try {
    return tokenizer.encode(text, {special: false, maxTokens, ...bounds}).length
  } catch (error) {
    if (error instanceof TooManyTokens) return maxTokens
    throw error
  }
}

function requireTokens(encode: () => number[], maxTokens: number, context: number): number[] {
  try {
    return encode()
  } catch (error) {
    if (error instanceof TooManyTokens)
      throw new SvcError('prompt_too_long', {length: `more than ${maxTokens} tokens`, context})
    throw error
  }
}

interface Fitting {
  /** @throws TooManyTokens beyond `limit` */
  encode: (messages: readonly ChatMessage[], limit: number) => number[]
  /** Number of tokens of a message on its own, at most the context length. */
  count: (message: ChatMessage) => number
  contextLength: number
  /** Limit for counting the tokens of a conversation that does not fit. */
  maxTokens: number
}

/**
 * Drops as few of the oldest turns as necessary; system messages and the last message stay. The token counts of the
 * messages give a first estimate, which lacks the markup of the template; a search from there finds the exact number.
 * Each attempt stops when the context is full.
 */
function fit({encode, count, contextLength, maxTokens}: Fitting, messages: readonly ChatMessage[]): number[] {
  const turns = droppable(messages)
  const isTurn = new Set(turns)
  const without = (dropped: number) => {
    const last = turns[dropped - 1] ?? -1
    return messages.filter((_, i) => i > last || !isTurn.has(i))
  }
  const attempt = (dropped: number): number[] | undefined => {
    try {
      const tokens = encode(without(dropped), contextLength)
      return tokens.length < contextLength ? tokens : undefined
    } catch (error) {
      // The template may reject the remaining messages, for example if they start with an answer. A template without
      // tool calls rejects them; to drop them would ignore them.
      const isRefused = isErrorOf(error, 'chat_refused') && (dropped > 0 || !messages.some(isOfTool))
      if (error instanceof TooManyTokens || isRefused) return undefined
      throw error
    }
  }
  let [low, high] = [-1, turns.length]
  let found: number[] | undefined
  let dropped = firstGuess({count, contextLength}, messages, turns)
  for (let step = 1; high - low > 1; step *= 2) {
    dropped = Math.min(high - 1, Math.max(low + 1, dropped))
    const tokens = attempt(dropped)
    if (tokens === undefined) low = dropped
    else [high, found] = [dropped, tokens]
    const isBetween = low >= 0 && found !== undefined
    dropped = isBetween ? Math.floor((low + high) / 2) : tokens === undefined ? dropped + step : dropped - step
  }
  return found ?? encode(without(turns.length), maxTokens)
}

const isOfTool = ({role, tool_calls: calls}: ChatMessage): boolean => role === 'tool' || calls !== undefined

/** Number of turns to drop by their own tokens: counts the newest ones until the context is full. */
function firstGuess(
  {count, contextLength}: Pick<Fitting, 'count' | 'contextLength'>,
  messages: readonly ChatMessage[],
  turns: readonly number[],
): number {
  const sizeAt = (at: number) => count(messages[at] as ChatMessage)
  const isTurn = new Set(turns)
  let tokens = 0
  for (const at of messages.keys()) if (!isTurn.has(at)) tokens += sizeAt(at)
  for (let turn = turns.length - 1; turn >= 0; turn--) {
    tokens += sizeAt(turns[turn] as number)
    if (tokens >= contextLength) return turn + 1
  }
  return 0
}

interface Chat extends Pick<GenerateRequest, 'tools' | 'thinking'> {
  messages: readonly ChatMessage[]
  context: readonly number[]
  variables: TemplateVariables
}

/** The tokens that follow the context. */
function encodeChat(
  {tokenizer, template, style}: PromptEncoder,
  {messages, context, variables, tools, thinking}: Chat,
  bounds: Omit<EncodeOptions, 'special'>,
): number[] {
  if (messages.every((message) => textOf(message) === '')) throw new SvcError('prompt_empty', {})
  const isWritten = style !== undefined && !style.isNative && (tools !== undefined || !style.showsCalls)
  const defined = tools?.tools.filter(({isInMessages}) => isInMessages !== true)
  const complete = isWritten ? withoutTools(style, messages, defined ?? []) : messages
  const guarded = complete.map((message) => mapMessage(message, tokenizer.guarded))
  if (template === undefined) {
    if (messages.some(({tool_calls: calls}) => calls !== undefined))
      throw new SvcError('bad_request', {
        reason: 'this model has no chat template, which tool calls need',
        param: 'messages',
      })
    const text = guarded.map(({content}) => content).join('\n')
    return tokenizer.encode(text, {...bounds, special: context.length === 0})
  }
  const guardedVariables = mapVariables(variables, tokenizer.guarded)
  const listed = isWritten ? undefined : defined?.map((tool) => mapVariables(asTemplateTool(tool), tokenizer.guarded))
  const rendered =
    context.length === 0
      ? template.render(guarded, guardedVariables, listed)
      : renderAfterContext(
          (opening, following) => template.renderAfterAnswer(opening, following, guardedVariables, listed),
          guarded,
          tokenizer.decode(context),
        )
  const isContinued = messages.at(-1)?.role === 'assistant'
  const text = thinking?.enabled === false && !isContinued ? rendered + noThinking(rendered, style) : rendered
  return tokenizer.encode(text, {...bounds, special: false})
}

/** What follows a prompt so that the model does not think, if its template has no switch for that. */
function noThinking(prompt: string, style: ReplyStyle | undefined): string {
  if (style?.thinking === undefined) return ''
  const {open, close, empty} = style.thinking
  const end = prompt.trimEnd()
  if (end.endsWith(close)) return ''
  return end.endsWith(open) ? empty.slice(open.length) : empty
}

/** Stands for the question in the context, whose text has no effect on what follows the answer. */
const earlierQuestion: ChatMessage = {role: 'user', content: '-'}

/**
 * The context ends with an answer. A system message that it contains was at the start of the conversation. A new one
 * follows the answer. If the template rejects or omits it there, it is at the start, whose text some templates write before
 * the last question, or else in front of the next question.
 */
function renderAfterContext(
  renderAfterAnswer: (opening: readonly ChatMessage[], messages: readonly ChatMessage[]) => string,
  messages: readonly ChatMessage[],
  context: string,
): string {
  const isSystem = ({role}: ChatMessage) => role === 'system'
  const isKnown = (message: ChatMessage) => isSystem(message) && context.includes(textOf(message).trim())
  const known = messages.filter(isKnown)
  const following = messages.filter((message) => !isKnown(message))
  const added = following.filter(isSystem)
  const turns = following.filter((message) => !isSystem(message))
  const first = () => renderAfterAnswer([...known, earlierQuestion], following)
  const others = [
    () => renderAfterAnswer([...known, ...added, earlierQuestion], turns),
    () => renderAfterAnswer([...known, earlierQuestion], withIntroduction(turns, added)),
  ]
  if (added.length === 0) return first()
  for (const render of [first, ...others])
    try {
      const text = render()
      if (added.every((message) => text.includes(textOf(message).trim()))) return text
    } catch (error) {
      if (!isErrorOf(error, 'chat_refused')) throw error
    }
  return first()
}

/** Puts messages in front of the first question. */
function withIntroduction(turns: readonly ChatMessage[], added: readonly ChatMessage[]): ChatMessage[] {
  const at = turns.findIndex(({role}) => role === 'user')
  const question = turns[at]
  const content = [...added, ...(question === undefined ? [] : [question])].map(textOf).join('\n\n')
  return at === -1 ? [{role: 'user', content}, ...turns] : turns.with(at, {role: 'user', content})
}
