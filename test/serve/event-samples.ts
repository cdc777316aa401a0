import type {GenerateEvent} from '../../src/llm/index.js'
import {type CollectedReply, ReplyCollector} from '../../src/serve/reply.js'
import {summaryOf} from './samples.js'

const summary = summaryOf({finishReason: 'tool_calls', cachedTokens: 5, reasoningTokens: 3})

/** Replies: thinking, a text and two calls; only a text; nothing; a call that is truncated. */
export const eventsOf = {
  everything: [
    {type: 'prompt', text: '', promptTokens: 21, cachedTokens: 5},
    {type: 'thinking', text: 'They '},
    {type: 'thinking', text: 'ask.'},
    {type: 'text', text: 'I ', tokens: 4},
    {type: 'text', text: 'look.', tokens: 5},
    {type: 'call', index: 0, id: 'call_1', name: 'look'},
    {type: 'arguments', index: 0, text: '{"x":', isLast: false},
    {type: 'arguments', index: 0, text: '1}', isLast: true},
    {type: 'call', index: 1, id: 'call_2', name: 'wait'},
    {type: 'arguments', index: 1, text: '{}', isLast: true},
    {type: 'done', ...summary},
  ],
  text: [
    {type: 'prompt', text: '', promptTokens: 21, cachedTokens: 0},
    {type: 'text', text: 'Hi', tokens: 1},
    {type: 'done', ...summaryOf()},
  ],
  nothing: [
    {type: 'prompt', text: '', promptTokens: 21, cachedTokens: 0},
    {type: 'done', ...summaryOf()},
  ],
  truncated: [
    {type: 'prompt', text: '', promptTokens: 21, cachedTokens: 0},
    {type: 'call', index: 0, id: 'call_1', name: 'look'},
    {type: 'arguments', index: 0, text: '{"x":', isLast: false},
    {type: 'done', ...summaryOf({finishReason: 'length'})},
  ],
} satisfies Record<string, GenerateEvent[]>

export function collected(events: readonly GenerateEvent[]): CollectedReply {
  const collector = new ReplyCollector()
  for (const event of events) collector.add(event)
  return collector.reply()
}
