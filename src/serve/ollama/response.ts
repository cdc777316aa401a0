import type {GenerateSummary, ScoredToken, TokenLogprob} from '../../llm/index.js'
import {definedEntries} from '../body.js'
import type {ToolCallReply} from '../reply.js'

/** Common start of all objects of a reply. */
export interface ReplyHead {
  model: string
  createdAt: string
}

export interface ReplyText {
  text: string
  /** What the model thought. */
  thinking?: string
  calls?: readonly ToolCallReply[]
  logprobs?: readonly TokenLogprob[]
}

export interface ReplyEnd {
  summary: GenerateSummary
  /** From the arrival of the request, ms. */
  totalMs: number
  /** Part of `totalMs` spent loading the model, ms. */
  loadMs: number
  /** The complete text, if it was not streamed. */
  reply?: ReplyText
}

export const chatChunk = ({model, createdAt}: ReplyHead, part: ReplyText) =>
  withLogprobs({model, created_at: createdAt, message: assistant(part), done: false}, part)

export const chatEnd = (head: ReplyHead, end: ReplyEnd) => ({
  ...stamp(head),
  message: assistant(end.reply ?? {text: ''}),
  ...ending(end),
  ...measures(end),
  ...logprobsOf(end.reply?.logprobs),
})

export const generateChunk = ({model, createdAt}: ReplyHead, part: ReplyText) => {
  const stamped = {model, created_at: createdAt, response: part.text}
  const {thinking} = part
  return withLogprobs(thinking === undefined ? {...stamped, done: false} : {...stamped, thinking, done: false}, part)
}

/** @param raw whether the prompt bypassed the template; the reply then has no `context` to continue from */
export const generateEnd = (head: ReplyHead, end: ReplyEnd, {raw}: {raw: boolean}) => ({
  ...stamp(head),
  response: end.reply?.text ?? '',
  ...definedEntries({thinking: end.reply?.thinking}),
  ...ending(end),
  ...definedEntries({context: raw ? undefined : end.summary.tokens}),
  ...measures(end),
  ...logprobsOf(end.reply?.logprobs),
})

/** Response to a request without messages: one object, even with `stream`. */
export const chatLoaded = (head: ReplyHead, reason: 'load' | 'unload') => ({
  ...stamp(head),
  message: assistant({text: ''}),
  done: true,
  done_reason: reason,
})

/** Response to a request without a prompt: one object, even with `stream`. */
export const generateLoaded = (head: ReplyHead, reason: 'load' | 'unload') => ({
  ...stamp(head),
  response: '',
  done: true,
  done_reason: reason,
})

const stamp = ({model, createdAt}: ReplyHead) => ({model, created_at: createdAt})

/** Called for each token, which most often has only a text: an object without spread parts costs a third. */
function assistant({text, thinking, calls}: ReplyText): object {
  const message = {role: 'assistant', content: text}
  if (thinking === undefined && calls === undefined) return message
  return {...message, ...definedEntries({thinking, tool_calls: calls?.map(toolCall)})}
}

const withLogprobs = <T extends object>(chunk: T, {logprobs}: ReplyText): T & {logprobs?: readonly object[]} =>
  logprobs === undefined ? chunk : {...chunk, ...logprobsOf(logprobs)}

const toolCall = ({id, name, arguments: text}: ToolCallReply) => ({id, function: {name, arguments: JSON.parse(text)}})
/** This API has no reason of its own for calls. */
const ending = ({summary: {finishReason}}: ReplyEnd) => ({
  done: true,
  done_reason: finishReason === 'tool_calls' ? 'stop' : finishReason,
})

const nanoseconds = (ms: number) => Math.round(ms * 1e6)

/** Only in the last object, because clients sum the values of all objects. */
const measures = ({summary, totalMs, loadMs}: ReplyEnd) => ({
  total_duration: nanoseconds(totalMs),
  load_duration: nanoseconds(loadMs),
  prompt_eval_count: summary.promptTokens,
  prompt_eval_duration: nanoseconds(summary.prefillMs),
  eval_count: summary.completionTokens,
  eval_duration: nanoseconds(summary.decodeMs),
})

const scored = ({token, logprob, bytes}: ScoredToken) => ({token, logprob, bytes})

const logprobsOf = (logprobs: readonly TokenLogprob[] | undefined) =>
  logprobs === undefined
    ? undefined
    : {
        logprobs: logprobs.map((token) => ({
          ...scored(token),
          ...definedEntries({top_logprobs: token.top.length === 0 ? undefined : token.top.map(scored)}),
        })),
      }
