import type {GenerateSummary, TokenLogprob} from '../../llm/index.js'

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

/** A piece of a reply, or all of it. */
export interface ReplyText {
  text: string
  /** Where they were asked for. */
  logprobs?: readonly TokenLogprob[]
}

/** One of the n replies, whole. */
export interface Choice extends ReplyText {
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

/** The prompt is the same for all choices and counts once. */
export function usageOf(summaries: readonly GenerateSummary[]) {
  const prompt = summaries[0]?.promptTokens ?? 0
  const completion = summaries.reduce((sum, {completionTokens}) => sum + completionTokens, 0)
  return {prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion}
}
