import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {SvcError} from '../../../src/errors/index.js'
import type {GenerateEvent} from '../../../src/llm/index.js'
import {MessageStream} from '../../../src/serve/anthropic/message-stream.js'
import {readMessagesRequest} from '../../../src/serve/anthropic/request.js'
import {wholeMessage} from '../../../src/serve/anthropic/response.js'
import {collected, eventsOf} from '../event-samples.js'
import {defaults, summaryOf} from '../samples.js'

const head = {id: 'msg_1', model: 'my-run'}
const body = {messages: [{role: 'user', content: 'Hi'}], stop_sequences: ['END']}
const plain = readMessagesRequest(body, defaults)
const omitting = readMessagesRequest({...body, thinking: {type: 'adaptive', display: 'omitted'}}, defaults)

// biome-ignore lint/suspicious/noExplicitAny: events of many types
type Event = any

const streamOf = (events: readonly GenerateEvent[], request = plain): Event[] => {
  const stream = new MessageStream(head, request)
  return events.flatMap((event) => [...stream.write(event)])
}

/** What each event says, in short. */
const shortOf = ({type, index, delta, content_block: block}: Event): string =>
  [type.replace('content_block_', ''), index, block?.type ?? delta?.type].filter((part) => part !== undefined).join(' ')

/** The content that a client makes of the events. */
function contentOf(events: readonly Event[]): object[] {
  const blocks: Event[] = []
  const texts: string[] = []
  for (const {type, index, content_block: block, delta} of events) {
    if (type === 'content_block_start') blocks[index] = {...block}
    if (type === 'content_block_stop' && texts[index] !== undefined) blocks[index].input = JSON.parse(texts[index])
    if (type !== 'content_block_delta') continue
    if (delta.type === 'text_delta') blocks[index].text += delta.text
    if (delta.type === 'thinking_delta') blocks[index].thinking += delta.thinking
    if (delta.type === 'signature_delta') blocks[index].signature = delta.signature
    if (delta.type === 'input_json_delta') texts[index] = (texts[index] ?? '') + delta.partial_json
  }
  return blocks
}

describe('the events of a message', () => {
  it('come in the published order', () => {
    assert.deepEqual(streamOf(eventsOf.everything).map(shortOf), [
      'message_start',
      ...['start 0 thinking', 'delta 0 thinking_delta', 'delta 0 thinking_delta', 'delta 0 signature_delta', 'stop 0'],
      ...['start 1 text', 'delta 1 text_delta', 'delta 1 text_delta', 'stop 1'],
      ...['start 2 tool_use', 'delta 2 input_json_delta', 'delta 2 input_json_delta', 'stop 2'],
      ...['start 3 tool_use', 'delta 3 input_json_delta', 'stop 3'],
      'message_delta',
      'message_stop',
    ])
  })

  for (const name of ['everything', 'text', 'nothing'] as const)
    it(`make the message of a request without a stream: ${name}`, () => {
      for (const request of [plain, omitting]) {
        const events = streamOf(eventsOf[name], request)
        const whole: Event = wholeMessage(head, request, collected(eventsOf[name]))
        assert.deepEqual(contentOf(events), whole.content)
        const {delta, usage} = events.at(-2)
        assert.deepEqual([delta.stop_reason, delta.stop_sequence], [whole.stop_reason, whole.stop_sequence])
        assert.deepEqual({...whole.usage, ...usage}, whole.usage)
      }
    })

  it('have the tokens of the prompt first, divided into computed and cached ones', () => {
    const [{message}] = streamOf(eventsOf.everything) as [Event]
    assert.equal(message.usage.input_tokens, 16)
    assert.equal(message.usage.cache_read_input_tokens, 5)
    assert.equal(message.stop_reason, null)
  })

  it('omit the text of thinking on request, but not its block', () => {
    assert.deepEqual(streamOf(eventsOf.everything, omitting).slice(1, 4).map(shortOf), [
      'start 0 thinking',
      'delta 0 signature_delta',
      'stop 0',
    ])
  })

  it('state why the message ended', () => {
    const endOf = (summary: Parameters<typeof summaryOf>[0]) => {
      const {delta} = streamOf([{type: 'done', ...summaryOf(summary)}]).at(-2)
      return [delta.stop_reason, delta.stop_sequence]
    }
    assert.deepEqual(endOf({}), ['end_turn', null])
    assert.deepEqual(endOf({finishReason: 'length'}), ['max_tokens', null])
    assert.deepEqual(endOf({finishReason: 'tool_calls'}), ['tool_use', null])
    assert.deepEqual(endOf({stopString: 'END'}), ['stop_sequence', 'END'])
    assert.deepEqual(endOf({stopString: 'of the model'}), ['end_turn', null])
  })

  it('end with an error if the reply fails', () => {
    const failed = [...new MessageStream(head, plain).failed(new SvcError('overloaded', {reason: 'Too busy.'}))]
    assert.deepEqual(failed, [{type: 'error', error: {type: 'overloaded_error', message: 'Too busy.'}}])
  })
})
