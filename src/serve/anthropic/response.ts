import type {GenerateSummary, PromptCounts} from '../../llm/index.js'
import type {CollectedReply, ToolCallReply} from '../reply.js'
import type {MessagesRequest} from './request.js'

/** Clients require a signature, but this server does not check it. */
export const signature = 'unsigned'

export interface MessageHead {
  /** `msg_…` */
  id: string
  model: string
}

/** A message without its content: the value of the first event of a stream. */
export const openMessage = ({id, model}: MessageHead, counts: PromptCounts) => ({
  id,
  type: 'message',
  role: 'assistant',
  model,
  content: [],
  container: null,
  diagnostics: null,
  stop_reason: null,
  stop_sequence: null,
  stop_details: null,
  usage: {...promptUsage(counts), output_tokens: 0, output_tokens_details: null, ...unused},
})

const unused = {
  cache_creation: null,
  inference_geo: null,
  server_tool_use: null,
  service_tier: 'standard',
  speed: null,
}

/** Response to `POST /v1/messages` without `stream`. */
export function wholeMessage(
  head: MessageHead,
  request: MessagesRequest,
  {thinking, text, calls = [], summary}: CollectedReply,
) {
  const opened = openMessage(head, summary)
  return {
    ...opened,
    content: [
      ...(thinking === undefined ? [] : [thinkingBlock(request.omitsThinking ? '' : thinking)]),
      ...(text === '' ? [] : [textBlock(text)]),
      ...calls.map((call) => ({...toolBlock(call), input: JSON.parse(call.arguments)})),
    ],
    ...stopOf(request, summary),
    usage: {...opened.usage, ...endUsage(summary)},
  }
}

/** Without citations, because some clients accept no null there. */
export const textBlock = (text: string) => ({type: 'text', text})
export const thinkingBlock = (thinking: string, sign = signature) => ({type: 'thinking', thinking, signature: sign})
export const toolBlock = ({id, name}: Pick<ToolCallReply, 'id' | 'name'>) => ({
  type: 'tool_use',
  id,
  name,
  input: {},
  caller: {type: 'direct'},
})

const reasons = {stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use'}

/** Why the message ended; a stop string of the model is its own end. */
export function stopOf({stopSequences}: MessagesRequest, {finishReason, stopString}: GenerateSummary) {
  const isStated = stopString !== undefined && stopSequences.includes(stopString)
  return {
    stop_reason: isStated ? 'stop_sequence' : reasons[finishReason],
    stop_sequence: isStated ? stopString : null,
  }
}

/** As in Anthropic's API, tokens from the cache are not among the input tokens. */
const promptUsage = ({promptTokens, cachedTokens}: PromptCounts) => ({
  input_tokens: promptTokens - cachedTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cachedTokens,
})

/** The usage at the end of a stream. */
export const endUsage = (summary: GenerateSummary) => ({
  ...promptUsage(summary),
  output_tokens: summary.completionTokens,
  output_tokens_details: summary.reasoningTokens ? {thinking_tokens: summary.reasoningTokens} : null,
  server_tool_use: null,
})
