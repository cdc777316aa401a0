import {isErrorOf, SvcError} from '../errors/index.js'
import {type ChatMessage, type ChatTemplate, type EncodeOptions, type Tokenizer, TooManyTokens} from '../text/index.js'
import type {Prompt} from './request.js'

/** How a model turns prompts into tokens. */
export interface PromptEncoder {
  tokenizer: Tokenizer
  /** Undefined where the model has none: then a conversation is sent as it is. */
  template: ChatTemplate | undefined
  contextLength: number
}

/** Bytes of text to a byte of a token, at the most: some tokenizers write what they read in fewer. */
const mostShrinking = 4
/** A prompt that is too long is counted up to this many contexts, so that the error can say how long it is. */
const countedContexts = 4

/** Bytes that a prompt may have; a longer one cannot fit. */
export const mostBytes = (longestToken: number, contextLength: number): number =>
  mostShrinking * longestToken * contextLength

/**
 * The prompt, with no more of it than can fit: of a conversation that may forget its oldest turns, those go that cannot
 * be kept. Costs a look at each length.
 * @throws prompt_too_long
 */
export function withinBytes(prompt: Prompt, most: number, context: number): Prompt {
  switch (prompt.kind) {
    case 'beginning':
      return prompt
    case 'tokens':
      if (prompt.tokens.length > context)
        throw new SvcError('prompt_too_long', {length: `${prompt.tokens.length} tokens`, context})
      return prompt
    case 'raw':
      requireBytes(Buffer.byteLength(prompt.text), most, context)
      return prompt
    case 'chat': {
      const {messages, overflow} = prompt
      const sizes = messages.map(({content}) => Buffer.byteLength(content))
      let bytes = sizes.reduce((sum, size) => sum + size, 0)
      const oldest = overflow === 'refuse' ? [] : droppable(messages)
      const dropped = new Set<number>()
      for (const at of oldest) {
        if (bytes <= most) break
        dropped.add(at)
        bytes -= sizes[at] as number
      }
      requireBytes(bytes, most, context)
      return dropped.size === 0 ? prompt : {...prompt, messages: messages.filter((_, i) => !dropped.has(i))}
    }
  }
}

function requireBytes(bytes: number, most: number, context: number): void {
  if (bytes > most) throw new SvcError('prompt_too_long', {length: `${bytes} bytes`, context})
}

/** Places of the turns that may be forgotten, the oldest first: not what the system says, and not the last. */
const droppable = (messages: readonly ChatMessage[]): number[] =>
  messages.flatMap(({role}, i) => (role !== 'system' && i < messages.length - 1 ? [i] : []))

/**
 * The tokens of a prompt.
 * @param check is called now and then; what it throws ends the work
 * @throws prompt_missing, prompt_empty, prompt_too_long, chat_template_failed, chat_refused; bad_request where nothing breaks a long word
 */
export function encodePrompt(encoder: PromptEncoder, prompt: Prompt, check?: () => void): number[] {
  const {tokenizer, contextLength} = encoder
  const most = countedContexts * contextLength
  const bounds = {most, ...(check === undefined ? {} : {check})}
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
      return requireTokens(encode, most, contextLength)
    }
    case 'chat': {
      const {context = [], messages, overflow} = prompt
      const special = context.length === 0
      const encode = (kept: readonly ChatMessage[], limit: number) => {
        const own = encodeChat(encoder, kept, {special, ...bounds, most: limit - context.length})
        return [...context, ...own]
      }
      const count = (content: string) => countTokens(tokenizer, content, {...bounds, most: contextLength})
      const encodeAll = () =>
        overflow === 'refuse' ? encode(messages, most) : fit({encode, count, contextLength, most}, messages)
      return requireTokens(encodeAll, most, contextLength)
    }
  }
}

/** Tokens of a text by itself, counted up to `most`. */
function countTokens(
  tokenizer: Tokenizer,
  text: string,
  {most, ...bounds}: Omit<EncodeOptions, 'special'> & {most: number},
): number {
  try {
    return tokenizer.encode(text, {special: false, most, ...bounds}).length
  } catch (error) {
    if (error instanceof TooManyTokens) return most
    throw error
  }
}

function requireTokens(encode: () => number[], most: number, context: number): number[] {
  try {
    return encode()
  } catch (error) {
    if (error instanceof TooManyTokens)
      throw new SvcError('prompt_too_long', {length: `more than ${most} tokens`, context})
    throw error
  }
}

interface Fitting {
  /** @throws TooManyTokens beyond `limit` */
  encode: (messages: readonly ChatMessage[], limit: number) => number[]
  /** Tokens of a content by itself, counted up to the context. */
  count: (content: string) => number
  contextLength: number
  /** Tokens that are counted of what does not fit. */
  most: number
}

/**
 * Without its oldest turns, as few of them as it takes; system messages and the last message stay. The tokens of each
 * message by itself tell how many that are, but for what the template writes around them: the right number is then near.
 * Each try ends where the context is full.
 */
function fit({encode, count, contextLength, most}: Fitting, messages: readonly ChatMessage[]): number[] {
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
      // A template may refuse what is left of a conversation, such as one that begins with an answer.
      if (error instanceof TooManyTokens || isErrorOf(error, 'chat_refused')) return undefined
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
  return found ?? encode(without(turns.length), most)
}

/** How many turns do not fit by their own tokens: the newest are counted until the context is full. */
function firstGuess(
  {count, contextLength}: Pick<Fitting, 'count' | 'contextLength'>,
  messages: readonly ChatMessage[],
  turns: readonly number[],
): number {
  const sizeAt = (at: number) => count(messages[at]?.content ?? '')
  const isTurn = new Set(turns)
  let tokens = 0
  for (const at of messages.keys()) if (!isTurn.has(at)) tokens += sizeAt(at)
  for (let kept = turns.length - 1; kept >= 0; kept--) {
    tokens += sizeAt(turns[kept] as number)
    if (tokens >= contextLength) return kept + 1
  }
  return 0
}

function encodeChat(
  {tokenizer, template}: PromptEncoder,
  messages: readonly ChatMessage[],
  options: EncodeOptions,
): number[] {
  if (messages.every(({content}) => content === '')) throw new SvcError('prompt_empty', {})
  const guarded = messages.map((message) => ({...message, content: tokenizer.guarded(message.content)}))
  if (template === undefined) return tokenizer.encode(guarded.map(({content}) => content).join('\n'), options)
  return tokenizer.encode(template.render(guarded, tokenizer), {...options, special: false})
}
