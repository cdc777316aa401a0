import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {withPayloads} from '../../src/prove/history/acked-payloads.js'
import {call, messageRow} from './history.js'

const told = (id: number, payload: string) =>
  call('a2a_inbox', {sent: 0, status: 200, body: {messages: [{id, payload}]}})

const textsOf = (...rows: Parameters<typeof withPayloads>[1]) =>
  withPayloads({calls: [told(1, 'what was told'), call('a2a_ack', {sent: 20, status: 204})]}, rows).map(
    ({payload}) => payload,
  )

describe('the text of a message at the end of a run', () => {
  it('is what its reader was told, where it was acknowledged and the file has none', () => {
    assert.deepEqual(textsOf(messageRow(1, {acked_at: 5, payload: ''})), ['what was told'])
  })

  it('is that of the file as long as it waits, even where it is gone', () => {
    assert.deepEqual(textsOf(messageRow(1, {payload: 'other'}), messageRow(1, {payload: ''})), ['other', ''])
  })

  it('is unknown where nobody was told it', () => {
    assert.deepEqual(textsOf(messageRow(2, {acked_at: 5, payload: ''})), [''])
  })
})
