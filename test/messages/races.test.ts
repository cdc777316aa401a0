import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {MessageContext} from '../../src/messages/context.js'
import {readInbox} from '../../src/messages/index.js'
import {ackHere, consumer, openWithAgents} from './support/agents.js'
import {race, startHelper} from './support/processes.js'
import type {AllSent} from './support/send-all.js'

const claim = (orchestrator: MessageContext, owner: string) =>
  readInbox(orchestrator, {agent: 'bert', source: 'db', claim: true}, consumer(owner)).messages

describe('processes that share an inbox', () => {
  it('claim each message exactly once', async (t) => {
    const orchestrator = await openWithAgents(t, {clock: 'real'})
    const count = 200
    orchestrator.store.transaction(() => {
      for (let i = 0; i < count; i++) orchestrator.say(String(i), {route: 'db'})
    })
    const owners = [['first'], ['second'], ['third']]
    const seen = await race<[string, number][]>(t, 'consume', orchestrator.root, owners)
    assert.deepEqual(
      seen
        .flat()
        .map(([payload]) => Number(payload))
        .sort((a, b) => a - b),
      Array.from({length: count}, (_, i) => i),
    )
    assert.ok(seen.flat().every(([, deliveries]) => deliveries === 1))
    assert.ok(seen.filter((one) => one.length > 0).length > 1, 'several processes took part')
    for (const one of seen) {
      const numbers = one.map(([payload]) => Number(payload))
      assert.deepEqual(
        numbers,
        numbers.toSorted((a, b) => a - b),
        'each in sending order',
      )
    }
  })

  it('can claim the messages of a killed process after its claim has expired', async (t) => {
    const orchestrator = await openWithAgents(t, {clock: {ms: Date.now()}})
    for (const payload of ['a', 'b']) orchestrator.say(payload, {route: 'db'})
    const holder = startHelper(t, 'hold', orchestrator.root, 'killed')
    await holder.printed
    holder.kill()
    await holder.exited
    orchestrator.clock.ms = Date.now()
    assert.deepEqual(claim(orchestrator, 'heir'), [])
    orchestrator.clock.ms += 120_000
    assert.deepEqual(
      claim(orchestrator, 'heir').map(({payload, delivery_attempts: times}) => [payload, times]),
      [
        ['a', 2],
        ['b', 2],
      ],
    )
    assert.equal(ackHere(orchestrator, {agent: 'bert', message: 1, route: 'db'}, 'heir').acknowledged, true)
  })

  it('send each message once, with or without idempotency keys', async (t) => {
    const orchestrator = await openWithAgents(t, {clock: 'real'})
    const count = 100
    type Both = Record<'keys' | 'none', AllSent>
    const [first, second] = await race<Both>(t, 'send-all', orchestrator.root, [[String(count)], [String(count)]])
    for (const keys of ['keys', 'none'] as const) {
      const [one, other] = [first?.[keys], second?.[keys]]
      assert.deepEqual(one?.uuids, other?.uuids, keys)
      assert.equal(new Set(one?.uuids).size, count, keys)
      assert.equal((one?.duplicates ?? 0) + (other?.duplicates ?? 0), count, keys)
    }
    const rows = orchestrator.store.all('SELECT payload FROM a2a_messages')
    assert.equal(rows.length, 2 * count)
  })
})
