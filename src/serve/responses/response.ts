import type {GenerateSummary} from '../../llm/index.js'
import type {CollectedReply} from '../reply.js'
import {callItem, messageItem, newId, outputText, reasoningItem, reasoningText, summaryText} from './items.js'
import type {ResponsesRequest} from './request.js'

export interface ResponseHead {
  /** `resp_…` */
  id: string
  /** Unix time, s. */
  created: number
  model: string
}

interface ResponseOutcome {
  status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  output: readonly object[]
  error?: object
  summary?: GenerateSummary
}

/** A response, complete or not. */
export const responseOf = (
  {id, created, model}: ResponseHead,
  {settings}: Pick<ResponsesRequest, 'settings'>,
  {status, output, error, summary}: ResponseOutcome,
) => ({
  id,
  object: 'response',
  created_at: created,
  completed_at: status === 'completed' ? Math.floor(Date.now() / 1000) : null,
  status,
  error: error ?? null,
  incomplete_details: status === 'incomplete' ? {reason: 'max_output_tokens'} : null,
  model,
  ...settings,
  output,
  usage: summary === undefined ? null : usageOf(summary),
})

export const statusOf = ({finishReason}: GenerateSummary) => (finishReason === 'length' ? 'incomplete' : 'completed')

/** Response to `POST /v1/responses` without `stream`. */
export function wholeResponse(head: ResponseHead, request: ResponsesRequest, reply: CollectedReply) {
  const {thinking, text, calls = [], truncated, logprobs, summary} = reply
  const status = statusOf(summary)
  const {summarizes} = request
  const part = summarizes ? summaryText : reasoningText
  const hasMessage = text !== '' || (thinking === undefined && calls.length === 0 && truncated === undefined)
  const output = [
    ...(thinking === undefined ? [] : [reasoningItem(newId('rs'), summarizes, [part(thinking)])]),
    ...(hasMessage ? [messageItem(newId('msg'), textStatus(reply), [outputText(text, logprobs)])] : []),
    ...calls.map((call) => callItem(newId('fc'), 'completed', call)),
    ...(truncated === undefined ? [] : [callItem(newId('fc'), 'incomplete', truncated)]),
  ]
  return responseOf(head, request, {status, output, summary})
}

/** A text that calls follow is complete. */
const textStatus = ({calls = [], truncated, summary}: CollectedReply) =>
  calls.length > 0 || truncated !== undefined ? 'completed' : statusOf(summary)

const usageOf = ({promptTokens, cachedTokens, completionTokens, reasoningTokens = 0}: GenerateSummary) => ({
  input_tokens: promptTokens,
  input_tokens_details: {cached_tokens: cachedTokens},
  output_tokens: completionTokens,
  output_tokens_details: {reasoning_tokens: reasoningTokens},
  total_tokens: promptTokens + completionTokens,
})
