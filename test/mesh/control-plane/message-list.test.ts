import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {writeMessages} from '../../../src/mesh/control-plane/message-list.js'
import {ask} from './support/ask.js'
import {startPlane} from './support/control-plane.js'
import {message} from './support/samples.js'

describe('page of large messages', () => {
  it('has a limited size, and all messages are reachable by paging', async (t) => {
    const plane = await startPlane(t)
    const payload = 'x'.repeat(500_000)
    const count = 40
    const sent = await Promise.all(
      Array.from({length: count}, () => plane.store.deliver('', {...message({payload}), priority: 1})),
    )
    const ids: number[] = []
    let pages = 0
    for (let before = {}; ; before = {before_message_id: Math.min(...ids)}) {
      const body = {receiver_agent_id: '2', max_messages: 256, ...before}
      const answer = await ask(plane, 'POST', '/v1/mesh/a2a/inbox', {body})
      assert.ok(answer.text.length < (8 << 20) + 100_000, `${answer.text.length} characters`)
      if (answer.body.messages.length === 0) break
      pages++
      ids.push(...answer.body.messages.map(({id}: {id: number}) => id))
    }
    assert.ok(pages > 2)
    assert.deepEqual(
      ids.toSorted((a, b) => a - b),
      sent.map(({message_id}) => message_id).toSorted((a, b) => a - b),
    )
  })

  it('is serialized in slices that do not block the event loop', async () => {
    const stored = {...message({payload: 'ü'.repeat(300_000)}), priority: 1, created_unix_ms: 1, acknowledged: false}
    const messages = Array.from({length: 12}, (_, id) => ({...stored, id, delivery_attempts: 0}))
    let turns = 0
    let isOver = false
    const countTurns = () => {
      turns++
      if (!isOver) setImmediate(countTurns)
    }
    setImmediate(countTurns)
    const text = await writeMessages(messages)
    isOver = true
    assert.deepEqual(JSON.parse(text.toString()), {messages})
    assert.ok(turns >= 5, `${turns} turns`)
  })

  it('is empty without messages', async () => {
    assert.equal((await writeMessages([])).toString(), '{"messages":[]}')
  })
})
