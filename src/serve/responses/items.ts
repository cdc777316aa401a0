import {randomUUID} from 'node:crypto'
import type {ScoredToken, TokenLogprob} from '../../llm/index.js'
import type {ToolCallReply} from '../reply.js'

export type Status = 'in_progress' | 'completed' | 'incomplete'

/** A new id: `msg_…`, `fc_…`, `rs_…` or `resp_…`. */
export const newId = (prefix: string): string => `${prefix}_${randomUUID().replaceAll('-', '')}`

/** A part of a message. */
export const outputText = (text: string, logprobs: readonly TokenLogprob[] = []) => ({
  type: 'output_text',
  text,
  annotations: [],
  logprobs: logprobs.map(logprobOf),
})

export const logprobOf = ({top, ...token}: TokenLogprob) => ({...scored(token), top_logprobs: top.map(scored)})
const scored = ({token, logprob, bytes}: ScoredToken) => ({token, logprob, bytes})

export const reasoningText = (text: string) => ({type: 'reasoning_text', text})
export const summaryText = (text: string) => ({type: 'summary_text', text})

export const messageItem = (id: string, status: Status, content: readonly object[]) => ({
  id,
  type: 'message',
  status,
  role: 'assistant',
  content,
})

export const callItem = (id: string, status: Status, {id: callId, name, arguments: text}: ToolCallReply) => ({
  id,
  type: 'function_call',
  status,
  call_id: callId,
  name,
  arguments: text,
})

/** @param parts of the summary, or else of the content */
export const reasoningItem = (id: string, summarizes: boolean, parts: readonly object[]) => ({
  id,
  type: 'reasoning',
  summary: summarizes ? parts : [],
  ...(summarizes ? {} : {content: parts}),
})
