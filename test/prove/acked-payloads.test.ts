import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {withPayloads} from '../../src/prove/history/acked-payloads.js'
import {call, messageRow} from './history.js'

const claim = (id: number, payload: string) =>
  call('a2a_inbox', {sent: 0, status: 200, body: {messages: [{id, payload}]}})

const textsOf = (...rows: Parameters<typeof withPayloads>[1]) =>
  withPayloads({calls: [claim(1, 'claimed text'), call('a2a_ack', {sent: 20, status: 204})]}, rows).map(
    ({payload}) => payload,
  )

describe('withPayloads', () => {
  it('restores the payload of an acknowledged message from its claim', () => {
    assert.deepEqual(textsOf(messageRow(1, {acked_at: 5, payload: ''})), ['claimed text'])
  })

  it('keeps the stored payload of a pending message, even if it is empty', () => {
    assert.deepEqual(textsOf(messageRow(1, {payload: 'other'}), messageRow(1, {payload: ''})), ['other', ''])
  })

  it('leaves the payload empty if the message was never claimed', () => {
    assert.deepEqual(textsOf(messageRow(2, {acked_at: 5, payload: ''})), [''])
  })
})
