import type {GenerateSummary, ScoredToken, TokenLogprob} from '../../llm/index.js'
import {given} from '../body.js'

/** What every object of a reply begins with. */
export interface ReplyHead {
  model: string
  createdAt: Date
}

export interface ReplyText {
  text: string
  logprobs?: readonly TokenLogprob[]
}

export interface ReplyEnd {
  summary: GenerateSummary
  /** From the arrival of the request, ms. */
  totalMs: number
  /** Of that, loading the model, ms. */
  loadMs: number
  /** The whole text, where it was not streamed. */
  reply?: ReplyText
}

export const chatChunk = (head: ReplyHead, {text, logprobs}: ReplyText) => ({
  ...stamp(head),
  message: assistant(text),
  done: false,
  ...chances(logprobs),
})

export const chatEnd = (head: ReplyHead, end: ReplyEnd) => ({
  ...stamp(head),
  message: assistant(end.reply?.text ?? ''),
  ...ending(end),
  ...measures(end),
  ...chances(end.reply?.logprobs),
})

export const generateChunk = (head: ReplyHead, {text, logprobs}: ReplyText) => ({
  ...stamp(head),
  response: text,
  done: false,
  ...chances(logprobs),
})

/** @param raw whether the prompt went without a template: then there is no `context` to go on from */
export const generateEnd = (head: ReplyHead, end: ReplyEnd, {raw}: {raw: boolean}) => ({
  ...stamp(head),
  response: end.reply?.text ?? '',
  ...ending(end),
  ...given({context: raw ? undefined : end.summary.tokens}),
  ...measures(end),
  ...chances(end.reply?.logprobs),
})

/** The answer to a request without messages: one object, even where a stream was asked for. */
export const chatLoaded = (head: ReplyHead, reason: 'load' | 'unload') => ({
  ...stamp(head),
  message: assistant(''),
  done: true,
  done_reason: reason,
})

/** The answer to a request without a prompt: one object, even where a stream was asked for. */
export const generateLoaded = (head: ReplyHead, reason: 'load' | 'unload') => ({
  ...stamp(head),
  response: '',
  done: true,
  done_reason: reason,
})

const stamp = ({model, createdAt}: ReplyHead) => ({model, created_at: createdAt.toISOString()})
const assistant = (content: string) => ({role: 'assistant', content})
const ending = ({summary}: ReplyEnd) => ({done: true, done_reason: summary.finishReason})

const nanoseconds = (ms: number) => Math.round(ms * 1e6)

/** Only the last object has them: clients add up what they find. */
const measures = ({summary, totalMs, loadMs}: ReplyEnd) => ({
  total_duration: nanoseconds(totalMs),
  load_duration: nanoseconds(loadMs),
  prompt_eval_count: summary.promptTokens,
  prompt_eval_duration: nanoseconds(summary.prefillMs),
  eval_count: summary.completionTokens,
  eval_duration: nanoseconds(summary.decodeMs),
})

const scored = ({token, logprob, bytes}: ScoredToken) => ({token, logprob, bytes})

const chances = (logprobs: readonly TokenLogprob[] | undefined) =>
  given({
    logprobs: logprobs?.map((token) => ({
      ...scored(token),
      ...given({top_logprobs: token.top.length === 0 ? undefined : token.top.map(scored)}),
    })),
  })
