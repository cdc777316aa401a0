import type {GenerateSummary, PromptToken, TokenLogprob} from '../../llm/index.js'

/** What every object of a reply carries. */
export interface ReplyHead {
  /** `chatcmpl-…` or `cmpl-…` */
  id: string
  /** Unix time, s. */
  created: number
  model: string
  systemFingerprint: string
}

export interface StreamHead extends ReplyHead {
  /** A chunk with the usage will end the stream; until then chunks carry a usage of null. */
  includeUsage: boolean
}

export interface ReplyText {
  text: string
  /** Where they were asked for. */
  logprobs?: readonly TokenLogprob[]
}

/** The prompt, where it is to be repeated. */
export interface PromptText {
  text: string
  logprobs?: readonly PromptToken[]
}

/** One of the replies, whole. */
export interface Choice extends ReplyText {
  prompt?: PromptText
  summary: GenerateSummary
}

/** Names what computes the reply: the same seed gives the same text while it stays the same. */
export const systemFingerprint = (product: string, device: 'cpu' | 'cuda'): string => `svc-${product}-${device}`

export const heading = (object: string, {id, created, model, systemFingerprint}: ReplyHead) => ({
  id,
  object,
  created,
  model,
  system_fingerprint: systemFingerprint,
})

/** Nothing where no usage was asked for. */
export const usageToCome = ({includeUsage}: StreamHead) => (includeUsage ? {usage: null} : {})

/**
 * A prompt is the same for all its choices and counts once.
 * @param n choices of each prompt
 */
export function usageOf(summaries: readonly GenerateSummary[], n = summaries.length) {
  const prompt = summaries.reduce((sum, {promptTokens}, i) => (i % n === 0 ? sum + promptTokens : sum), 0)
  const completion = summaries.reduce((sum, {completionTokens}) => sum + completionTokens, 0)
  return {prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion}
}
