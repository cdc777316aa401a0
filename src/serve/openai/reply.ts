import type {GenerateSummary, PromptToken, TokenLogprob} from '../../llm/index.js'
import type {ToolCallReply} from '../reply.js'

/** Common fields of all objects of a reply. */
export interface ReplyHead {
  /** `chatcmpl-…` or `cmpl-…` */
  id: string
  /** Unix time, s. */
  created: number
  model: string
  /** The receipt without the request: a seed reproduces a reply only with the same fingerprint. */
  systemFingerprint: string
}

export interface StreamHead extends ReplyHead {
  /** Whether the stream ends with a usage chunk; all earlier chunks then have a `usage` of null. */
  includeUsage: boolean
}

export interface ReplyText {
  text: string
  /** Only if requested. */
  logprobs?: readonly TokenLogprob[]
}

/** The prompt, with `echo`. */
export interface PromptText {
  text: string
  logprobs?: readonly PromptToken[]
}

/** A complete reply. */
export interface Choice extends ReplyText {
  prompt?: PromptText
  thinking?: string
  calls?: readonly ToolCallReply[]
  summary: GenerateSummary
}

export const heading = (object: string, {id, created, model, systemFingerprint}: ReplyHead) => ({
  id,
  object,
  created,
  model,
  system_fingerprint: systemFingerprint,
})

/** The `usage` of chunks before the usage chunk; absent without `include_usage`. */
export const pendingUsage = ({includeUsage}: StreamHead) => (includeUsage ? {usage: null} : {})

/**
 * Token counts of a reply. A prompt counts once for all of its choices. Details that are 0 are left out.
 * @param n choices per prompt
 */
export function usageOf(summaries: readonly GenerateSummary[], n = summaries.length) {
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)
  const firsts = summaries.filter((_, i) => i % n === 0)
  const prompt = sum(firsts.map(({promptTokens}) => promptTokens))
  const completion = sum(summaries.map(({completionTokens}) => completionTokens))
  const cached = sum(firsts.map(({cachedTokens}) => cachedTokens))
  const reasoning = sum(summaries.map(({reasoningTokens = 0}) => reasoningTokens))
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(cached === 0 ? {} : {prompt_tokens_details: {cached_tokens: cached}}),
    ...(reasoning === 0 ? {} : {completion_tokens_details: {reasoning_tokens: reasoning}}),
  }
}
