import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {SvcError} from '../../../src/errors/index.js'
import type {GenerateEvent} from '../../../src/llm/index.js'
import {readResponsesRequest} from '../../../src/serve/responses/request.js'
import {wholeResponse} from '../../../src/serve/responses/response.js'
import {ResponseStream} from '../../../src/serve/responses/response-stream.js'
import {collected, eventsOf} from '../event-samples.js'
import {defaults} from '../samples.js'

const head = {id: 'resp_1', created: 1_767_607_872, model: 'my-run'}
const plain = readResponsesRequest({input: 'Hi'}, defaults)
const summarized = readResponsesRequest({input: 'Hi', reasoning: {summary: 'auto'}}, defaults)

interface Event {
  type: string
  sequence_number: number
  response: {status: string; output: object[]; error: object | null}
  [field: string]: unknown
}

const streamOf = (events: readonly GenerateEvent[], request = plain): Event[] => {
  const stream = new ResponseStream(head, request)
  return events.flatMap((event) => [...stream.write(event)]).filter((event) => event !== '[DONE]') as Event[]
}

const typesOf = (events: readonly Event[]) => events.map(({type}) => type.replace('response.', ''))
const item = (...parts: string[]) => ['output_item.added', ...parts, 'output_item.done']
const call = (deltas: number) =>
  item(...Array.from({length: deltas}, () => 'function_call_arguments.delta'), 'function_call_arguments.done')
const text = (deltas: number) =>
  item(
    'content_part.added',
    ...Array.from({length: deltas}, () => 'output_text.delta'),
    'output_text.done',
    'content_part.done',
  )

describe('the events of a response', () => {
  it('come in the published order', () => {
    assert.deepEqual(typesOf(streamOf(eventsOf.everything)), [
      ...['created', 'in_progress'],
      ...item(
        'content_part.added',
        ...['reasoning_text.delta', 'reasoning_text.delta', 'reasoning_text.done'],
        'content_part.done',
      ),
      ...text(2),
      ...call(2),
      ...call(1),
      'completed',
    ])
  })

  it('have the thinking as a summary if one is requested', () => {
    assert.deepEqual(typesOf(streamOf(eventsOf.everything, summarized)).slice(2, 9), [
      ...item(
        'reasoning_summary_part.added',
        ...['reasoning_summary_text.delta', 'reasoning_summary_text.delta', 'reasoning_summary_text.done'],
        'reasoning_summary_part.done',
      ),
    ])
  })

  it('are numbered, and name their items', () => {
    const events = streamOf(eventsOf.everything)
    assert.deepEqual(
      events.map(({sequence_number: number}) => number),
      events.map((_, i) => i),
    )
    const ids = events.filter(({type}) => type.endsWith('.done')).map((event) => event.item_id ?? event.item)
    assert.ok(ids.every((id) => id !== undefined))
  })

  for (const [name, events] of Object.entries(eventsOf))
    it(`end with the response of a request without a stream: ${name}`, () => {
      const withoutIds = (response: object) =>
        JSON.parse(JSON.stringify(response).replace(/"(msg|fc|rs)_[0-9a-f]{32}"/g, '"$1"'))
      for (const request of [plain, summarized]) {
        const last = streamOf(events, request).at(-1)
        assert.deepEqual(
          withoutIds(last?.response as object),
          withoutIds(wholeResponse(head, request, collected(events))),
        )
      }
    })

  it('end with an incomplete response and call if the reply was truncated', () => {
    const events = streamOf(eventsOf.truncated)
    assert.deepEqual(typesOf(events).slice(-2), ['output_item.done', 'incomplete'])
    const {response} = events.at(-1) as Event
    assert.deepEqual(
      response.output.map((each) => (each as {status: string}).status),
      ['incomplete'],
    )
  })

  it('end with response.failed if the reply fails', () => {
    const stream = new ResponseStream(head, plain)
    const written = eventsOf.text.slice(0, 2).flatMap((event) => [...stream.write(event)])
    const failed = [...stream.failed(new SvcError('terminated', {}))] as Event[]
    assert.equal(failed.length, 1)
    const [{type, response, sequence_number: number}] = failed as [Event]
    assert.equal(type, 'response.failed')
    assert.equal(number, written.length)
    assert.equal(response.status, 'failed')
    assert.notEqual(response.error, null)
  })
})
