import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {describe, it} from 'node:test'
import {promisify} from 'node:util'
import {leaseMs, message, refused, TestClock} from '../conformance/story.js'
import {newPath, openAt} from './open-store.js'

const run = promisify(execFile)

/** Copies the current files of a store, as a process would find them after a crash. */
async function snapshot(path: string, target: string): Promise<void> {
  await run('cp', [path, target])
  await run('cp', [`${path}-wal`, `${target}-wal`])
}

describe('store after a crash', () => {
  it('continues from a time after all responses, whatever the system clock is', async (t) => {
    const path = await newPath(t)
    const clock = new TestClock()
    const sources = {wallClock: () => clock.wall, monotonic: () => clock.passed}
    const store = await openAt(t, path, sources)
    await store.join('', {id: 'n1', version: '1.0.0', capabilities: {}})
    await store.grantLease('', {scopeKey: 'task:1', claimer: 'n1'})
    for (const [i, step] of [10, 990, 1000, 1001, 5000, 60_000].entries()) {
      clock.advance(step)
      const {record} = await store.heartbeat('', {facts: {id: 'n1'}, isFull: false})
      const {last_seen_unix_ms: seen} = JSON.parse(record)
      const copy = `${path}.${i}`
      await snapshot(path, copy)
      const wall = clock.wall - 3_600_000
      const next = await openAt(t, copy, {wallClock: () => wall, monotonic: () => clock.passed})
      assert.ok(next.now() >= seen, `${next.now()} after ${seen}`)
      await next.close()
    }
  })

  it('does not shorten holds', async (t) => {
    const path = await newPath(t)
    const clock = new TestClock()
    const sources = {wallClock: () => clock.wall, monotonic: () => clock.passed}
    const store = await openAt(t, path, sources)
    await store.join('', {id: 'n1', version: '1.0.0', capabilities: {}})
    await store.deliver('', message())
    await store.grantLease('', {scopeKey: 'task:1', claimer: 'n1'})
    await store.claim('', {receiver: '2', claimer: 'n1'})
    await snapshot(path, `${path}.copy`)
    const next = await openAt(t, `${path}.copy`, sources)
    const [lease] = await next.listLeases('')
    const [claimed] = await next.peek('', {receiver: '2', limit: 1})
    for (const until of [lease?.expires_unix_ms, claimed?.lease_expires_unix_ms])
      assert.ok((until ?? 0) - next.now() >= leaseMs, `${(until ?? 0) - next.now()} ms are left`)
  })

  it('does not revive expired holds', async (t) => {
    const path = await newPath(t)
    const clock = new TestClock()
    const sources = {wallClock: () => clock.wall, monotonic: () => clock.passed}
    const store = await openAt(t, path, sources)
    await store.join('', {id: 'n1', version: '1.0.0', capabilities: {}})
    const {lease_id: lease} = await store.grantLease('', {scopeKey: 'task:1', claimer: 'n1'})
    clock.advance(leaseMs)
    await refused(store.verifyLease('', {lease, scopeKey: 'task:1'}), 'lease_not_found')
    await snapshot(path, `${path}.copy`)
    clock.step(-leaseMs)
    const next = await openAt(t, `${path}.copy`, sources)
    await refused(next.verifyLease('', {lease, scopeKey: 'task:1'}), 'lease_not_found')
    await refused(next.renewLease('', {lease, claimer: 'n1'}), 'lease_not_found')
  })
})
