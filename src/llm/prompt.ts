import {SvcError} from '../errors/index.js'
import type {ChatMessage, ChatTemplate, Tokenizer} from '../text/index.js'
import type {Prompt} from './request.js'

/** How a model turns prompts into tokens. */
export interface PromptEncoder {
  tokenizer: Tokenizer
  /** Undefined where the model has none: then a conversation is sent as it is. */
  template: ChatTemplate | undefined
  contextLength: number
}

/**
 * The tokens of a prompt.
 * @throws prompt_missing, prompt_empty, chat_template_failed
 */
export function encodePrompt(encoder: PromptEncoder, prompt: Prompt): number[] {
  const {tokenizer} = encoder
  switch (prompt.kind) {
    case 'beginning': {
      const bos = tokenizer.bos === undefined ? undefined : tokenizer.id(tokenizer.bos)
      if (bos === undefined) throw new SvcError('prompt_missing', {})
      return [bos]
    }
    case 'raw': {
      if (prompt.text === '') throw new SvcError('prompt_empty', {})
      const {context = []} = prompt
      return [...context, ...tokenizer.encode(prompt.text, {special: context.length === 0})]
    }
    case 'chat': {
      const {context = [], messages, overflow} = prompt
      const encode = (kept: readonly ChatMessage[]) => [...context, ...encodeChat(encoder, kept, context.length === 0)]
      return overflow === 'refuse' ? encode(messages) : fit(encode, messages, encoder.contextLength)
    }
  }
}

/** Without its oldest turns, as many as it takes; system messages and the last message stay. */
function fit(
  encode: (messages: readonly ChatMessage[]) => number[],
  messages: readonly ChatMessage[],
  contextLength: number,
): number[] {
  let kept = messages
  let tokens = encode(kept)
  while (tokens.length >= contextLength) {
    const oldest = kept.findIndex(({role}, i) => role !== 'system' && i < kept.length - 1)
    if (oldest === -1) return tokens
    kept = kept.filter((_, i) => i !== oldest)
    tokens = encode(kept)
  }
  return tokens
}

function encodeChat({tokenizer, template}: PromptEncoder, messages: readonly ChatMessage[], first: boolean): number[] {
  if (messages.every(({content}) => content === '')) throw new SvcError('prompt_empty', {})
  if (template === undefined) return tokenizer.encode(messages.map(({content}) => content).join('\n'), {special: first})
  const safe = messages.map((message) => ({...message, content: withoutSpecials(tokenizer, message.content)}))
  return tokenizer.encode(template.render(safe, tokenizer), {special: false})
}

/** What a person writes must not act as a special token: `<|im_end|>` becomes `[im_end]`. */
function withoutSpecials(tokenizer: Tokenizer, content: string): string {
  return tokenizer.specials.reduce(
    (text, special) => text.replaceAll(special, `[${special.replace(/^<\|?|\|?>$/g, '')}]`),
    content,
  )
}
