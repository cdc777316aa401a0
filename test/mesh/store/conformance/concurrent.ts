import assert from 'node:assert/strict'
import {it} from 'node:test'
import type {ClaimQuery} from '../../../../src/mesh/store/mesh-store.js'
import {begin, endOf, leaseMs, message, type OpenStore, type Story} from './story.js'

const together = <In, Out>(requests: readonly In[], send: (request: In) => Promise<Out>) =>
  Promise.all(requests.map(send))

/** Results of claims sent at once: ids, error codes, or undefined. */
const claimAll = (story: Story, claims: readonly Partial<ClaimQuery>[]) =>
  together(claims, async (claim) => {
    try {
      return (await story.store.claim('', {claimer: 'n1', receiver: '2', ...claim}))?.id
    } catch (error) {
      return (error as {code: string}).code
    }
  })

const nodesOf = async (story: Story, ids: readonly string[]) => {
  for (const id of ids) await story.join(id)
  return ids.map((claimer) => ({claimer}))
}

/** A driver may merge requests that arrive while others are in progress: each must have the answer that it has alone. */
export function concurrencyConformance(open: OpenStore): void {
  it('give each of several nodes a message, in the order of priority', async (t) => {
    const story = await begin(t, open)
    const claims = await nodesOf(story, ['a', 'b', 'c', 'd'])
    const urgent = await story.deliver({priority: 200})
    const ids = [await story.deliver(), urgent, await story.deliver({priority: 0})]
    const other = await story.deliver({receiver_agent_id: '3'})
    const found = await claimAll(story, [...claims, {receiver: '3'}])
    assert.equal(found.pop(), other)
    assert.deepEqual(new Set(found), new Set([...ids, undefined]))
    const [first, second] = await claimAll(
      story,
      [{claimer: 'e'}, {claimer: 'f'}].map(({claimer}) => ({claimer})),
    )
    assert.deepEqual([first, second], ['unknown_node', 'unknown_node'])
  })

  it('give a node that asks twice the same message', async (t) => {
    const story = await begin(t, open)
    const id = await story.deliver()
    await story.deliver()
    assert.deepEqual(await claimAll(story, [{}, {}, {}]), [id, id, id])
  })

  it('give nothing to nodes that may not claim, and their place to others', async (t) => {
    const story = await begin(t, open)
    const claims = await nodesOf(story, ['barred', 'idle', 'holder', 'open', 'private'])
    await story.store.setQuarantine('', 'barred', true, 'admin')
    await story.store.setMaintenance('', 'idle', {on: true}, 'admin')
    await story.join('open', {visibility: 'public'})
    const held = await story.deliver({priority: 9})
    assert.equal((await story.claim('holder'))?.id, held)
    const secret = await story.deliver({privacy_class: 'private'})
    assert.deepEqual(await claimAll(story, claims), [undefined, undefined, held, undefined, secret])
  })

  it('respect filters and requirements', async (t) => {
    const story = await begin(t, open)
    await nodesOf(story, ['plain', 'other'])
    await story.join('gpu', {capabilities: {gpu_cuda: true}})
    const demanding = await story.deliver({requirements: {gpu_cuda: true}})
    const typed = await story.deliver({message_type: 'typed'})
    const sent = await story.deliver({sender_agent_id: '7', message_type: 'last'})
    const found = await claimAll(story, [
      {claimer: 'plain', excludeSenders: ['1']},
      {claimer: 'n1', types: ['none', 'a "quoted", {type}']},
      {claimer: 'other', types: ['typed']},
      {claimer: 'gpu', exclude: [typed, sent]},
    ])
    assert.deepEqual(found, [sent, undefined, typed, demanding])
    assert.deepEqual(await claimAll(story, [{claimer: 'other', exclude: [typed]}, {claimer: 'gpu'}]), [
      undefined,
      demanding,
    ])
  })

  it('mark a message that was claimed too often as dead, and give the next one', async (t) => {
    const story = await begin(t, open)
    const claims = await nodesOf(story, ['a', 'b'])
    const exhausted = await story.deliver()
    for (let attempt = 0; attempt < 16; attempt++) {
      await story.claim('n1')
      story.clock.advance(leaseMs + 1)
    }
    const next = await story.deliver()
    assert.deepEqual(new Set(await claimAll(story, claims)), new Set([next, undefined]))
    const {rows} = await story.store.listDead('', {limit: 9})
    assert.deepEqual(
      rows.map(({id}) => id),
      [exhausted],
    )
    assert.equal((await story.store.listAudit('', {limit: 1})).rows[0]?.action, 'message.dead')
  })

  it('acknowledge what the node holds, and refuse the rest', async (t) => {
    const story = await begin(t, open)
    await story.join('b')
    const [mine, free, taken] = [await story.deliver(), await story.deliver(), await story.deliver()]
    assert.deepEqual(await claimAll(story, [{exclude: [free, taken]}, {claimer: 'b', exclude: [mine, free]}]), [
      mine,
      taken,
    ])
    const ends = await together(
      [
        {message: taken, claimer: 'n1'},
        {message: mine, claimer: 'n1'},
        {message: mine, claimer: 'n1'},
        {message: free, claimer: 'b'},
        {message: 999_999, claimer: 'b'},
        {message: taken, claimer: 'b', receiver: '3'},
        {message: mine, claimer: 'b'},
      ],
      ({receiver = '2', ...ack}) => endOf(story.store.ack('', {receiver, ...ack})),
    )
    assert.deepEqual(ends, ['not_lease_holder', 'ok', 'ok', 'ok', 'message_not_found', 'message_not_found', 'ok'])
    assert.deepEqual(await story.waiting(), [taken])
    const renewed = await together(['n1', 'b'], (claimer) =>
      endOf(story.store.renewClaim('', {receiver: '2', message: taken, claimer})),
    )
    assert.deepEqual(renewed, ['not_lease_holder', 'ok'])
  })

  it('add messages up to the limit of an inbox, and each key once', async (t) => {
    const story = await begin(t, open, {maxMessages: 6, maxMessagesPerReceiver: 4})
    const keyed = (payload: string) => message({idempotency_key: 'same', payload})
    const same = await together(['x', 'x', 'y', 'x'], async (payload) => {
      try {
        const {message_id, duplicate = false} = await story.store.deliver('', keyed(payload))
        return [message_id, duplicate]
      } catch (error) {
        return (error as {code: string}).code
      }
    })
    const [first] = await story.waiting()
    assert.deepEqual(same, [[first, false], [first, true], 'idempotency_key_reused', [first, true]])
    const ends = await together(['2', '3', '2', '2', '2', '3', '3', '3'], (receiver_agent_id) =>
      endOf(story.store.deliver('', message({receiver_agent_id, payload: 'a\0b'}))),
    )
    assert.equal(ends.filter((end) => end === 'ok').length, 5)
    assert.equal(ends.filter((end) => end === 'inbox_full').length, 3)
    assert.ok((await story.waiting()).length <= 4)
    assert.equal(await story.store.countPending('', {limit: 100}), 6)
    assert.ok((await story.store.peek('', {receiver: '3', limit: 9})).every(({payload}) => payload === 'a\0b'))
  })
}
