import type {GenerateEvent, GenerateSummary, ScoredToken, TokenLogprob} from '../../llm/index.js'
import {definedEntries} from '../body.js'
import type {ToolCallReply} from '../reply.js'
import {type Choice, heading, pendingUsage, type ReplyHead, type ReplyText, type StreamHead, usageOf} from './reply.js'

/** Response to `POST /v1/chat/completions` without `stream`. */
export const chatCompletion = (head: ReplyHead, choices: readonly Choice[]) => ({
  ...heading('chat.completion', head),
  choices: choices.map(({thinking, text, calls, logprobs, summary}, index) => ({
    index,
    message: {
      role: 'assistant',
      content: text === '' && calls !== undefined ? null : text,
      refusal: null,
      ...definedEntries({reasoning_content: thinking, tool_calls: calls?.map(toolCall)}),
    },
    logprobs: logprobsOf(logprobs),
    finish_reason: summary.finishReason,
  })),
  usage: usageOf(choices.map(({summary}) => summary)),
})

const toolCall = ({id, name, arguments: text}: ToolCallReply) => ({
  id,
  type: 'function',
  function: {name, arguments: text},
})

/** The first chunk of a choice. */
export const chatOpening = (head: StreamHead, index: number) => chunk(head, index, {role: 'assistant', content: ''})

export const chatDelta = (head: StreamHead, index: number, {text, logprobs}: ReplyText) =>
  chunk(head, index, {content: text}, {logprobs: logprobsOf(logprobs)})

export const chatThinking = (head: StreamHead, index: number, text: string) =>
  chunk(head, index, {reasoning_content: text})

/** A part of a call: its name, or a part of its arguments. Undefined if it has no content. */
export function chatCall(
  head: StreamHead,
  index: number,
  event: Extract<GenerateEvent, {type: 'call' | 'arguments'}>,
): object | undefined {
  if (event.type === 'arguments' && event.text === '') return undefined
  const part =
    event.type === 'call'
      ? {id: event.id, type: 'function', function: {name: event.name, arguments: ''}}
      : {function: {arguments: event.text}}
  return chunk(head, index, {tool_calls: [{index: event.index, ...part}]})
}

/** The last chunk of a choice. */
export const chatEnd = (head: StreamHead, index: number, {finishReason}: GenerateSummary) =>
  chunk(head, index, {}, {finishReason})

/** The last chunk of a stream with `include_usage`. */
export const chatUsage = (head: StreamHead, summaries: readonly GenerateSummary[]) => ({
  ...heading('chat.completion.chunk', head),
  choices: [],
  usage: usageOf(summaries),
})

interface ChunkRest {
  logprobs?: ReturnType<typeof logprobsOf>
  finishReason?: GenerateSummary['finishReason']
}

const chunk = (head: StreamHead, index: number, delta: object, {logprobs, finishReason}: ChunkRest = {}) => ({
  ...heading('chat.completion.chunk', head),
  choices: [{index, delta, logprobs: logprobs ?? null, finish_reason: finishReason ?? null}],
  ...pendingUsage(head),
})

const scored = ({token, logprob, bytes}: ScoredToken) => ({token, logprob, bytes})

const logprobsOf = (logprobs: readonly TokenLogprob[] | undefined) =>
  logprobs === undefined
    ? null
    : {content: logprobs.map((token) => ({...scored(token), top_logprobs: token.top.map(scored)})), refusal: null}
