import type {LogitsProcessor} from './logits-processor.js'
import {penalties} from './penalties.js'

/** What a model demands of each of its replies. Token ids outside the vocabulary have no effect. */
export interface ReplyRules {
  /** Tokens that are never selected, and those that are not selected first. */
  suppressed: readonly number[]
  suppressedFirst: readonly number[]
  /** Sequences of tokens, of which the last one is not selected after the others. */
  badWords: readonly (readonly number[])[]
  /** Tokens, one of which follows a prompt of a single token. */
  forcedFirst: readonly number[]
  /** Tokens, one of which is selected last if the reply reaches its maximum length. */
  forcedLast: readonly number[]
  /** Minimum number of tokens of a reply, or of prompt and reply together. */
  minNewTokens: number | undefined
  minLength: number
  /** Repeat penalty for all tokens of prompt and reply, unless a request has its own. */
  repetitionPenalty: number
}

export interface ReplyBounds {
  promptTokens: number
  /** Maximum number of tokens of the reply. */
  limit: number
  endTokens: ReadonlySet<number>
}

/** Applies the rules of a model, except its repetition penalty, to one reply. They mean the same as in transformers. */
export function replyRules(rules: ReplyRules, {promptTokens, limit, endTokens}: ReplyBounds): LogitsProcessor[] {
  const {suppressed, suppressedFirst, forcedFirst, forcedLast, minNewTokens, minLength} = rules
  const isEnd = ([only, ...others]: readonly number[]) => others.length === 0 && endTokens.has(only ?? -1)
  const badWords = rules.badWords.filter((word) => !isEnd(word))
  const min = minNewTokens ?? minLength - promptTokens
  const first = promptTokens === 1 && forcedFirst.length > 0 ? promptTokens + 1 : promptTokens
  const processor: LogitsProcessor = (logits, history) => {
    for (const word of badWords) if (endsWithStart(history, word)) exclude(logits, word.slice(-1))
    if (history.length - promptTokens < min) exclude(logits, endTokens)
    if (history.length === 1) force(logits, forcedFirst)
    if (history.length - promptTokens === limit - 1) force(logits, forcedLast)
    exclude(logits, suppressed)
    if (history.length === first) exclude(logits, suppressedFirst)
  }
  const isNeutral =
    min <= 0 && [badWords, suppressed, suppressedFirst, forcedFirst, forcedLast].every(({length}) => length === 0)
  return isNeutral ? [] : [processor]
}

/** The repetition penalty of a model. */
export function repetitionPenalty({repetitionPenalty: repeatPenalty}: ReplyRules): LogitsProcessor[] {
  const processor = penalties({repeatPenalty, presencePenalty: 0, frequencyPenalty: 0, repeatLastN: -1})
  return processor === undefined ? [] : [processor]
}

/** Whether a text ends with all tokens of a sequence but its last one. */
function endsWithStart(history: readonly number[], word: readonly number[]): boolean {
  const start = history.length - (word.length - 1)
  for (let i = 0; i < word.length - 1; i++) if (history[start + i] !== word[i]) return false
  return true
}

/** Makes tokens impossible. */
function exclude(logits: Float32Array, ids: Iterable<number>): void {
  for (const id of ids) if (id < logits.length) logits[id] = -Infinity
}

/** Makes tokens the only ones, with equal logits. */
function force(logits: Float32Array, ids: readonly number[]): void {
  if (ids.length === 0) return
  logits.fill(-Infinity)
  for (const id of ids) if (id < logits.length) logits[id] = 0
}
