import assert from 'node:assert/strict'
import {rename, rm} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {isErrorOf} from '../../../../src/errors/index.js'
import {meshDatabase} from '../../../../src/mesh/index.js'
import {backUpDatabase, restoreDatabase} from '../../../../src/store/index.js'
import {message} from '../conformance/story.js'
import {openAt, openNew} from './open-store.js'

describe('a restored mesh', () => {
  it('assigns no fencing token or message id again, whether the replaced database is known or not', async (t) => {
    const {path, store} = await openNew(t)
    const file = `${path}.copy`
    const grant = (opened: typeof store, scopeKey: string) => opened.grantLease('', {scopeKey, claimer: 'n1'})
    const deliver = (opened: typeof store) => opened.deliver('', message())
    await grant(store, 'task:1')
    // The control plane may run meanwhile.
    await backUpDatabase(path, meshDatabase, {file, place: rename})
    const lost = await grant(store, 'task:2')
    const {message_id: lostMessage} = await deliver(store)
    await assert.rejects(restoreDatabase(file, path, meshDatabase), (error) => isErrorOf(error, 'database_in_use'))
    await store.close()

    let highest = lost.fence_token
    for (const replaced of ['known', 'missing', 'missing', 'known']) {
      if (replaced === 'missing') await rm(path)
      await restoreDatabase(file, path, meshDatabase)
      const restored = await openAt(t, path)
      await assert.rejects(restored.renewLease('', {lease: lost.lease_id, claimer: 'n1'}))
      const next = await grant(restored, 'task:2')
      assert.ok(next.fence_token > highest, `${next.fence_token}`)
      highest = next.fence_token
      assert.ok((await deliver(restored)).message_id > lostMessage + 1000)
      await restored.close()
    }
  })

  it('holds no leases and claims of its earlier life, and reports the end of leases', async (t) => {
    const {path, store} = await openNew(t)
    const file = `${path}.copy`
    await store.join('', {id: 'n2', version: '1.0.0', capabilities: {}})
    const held = await store.grantLease('', {scopeKey: 'task:1', claimer: 'n1'})
    const {message_id: id} = await store.deliver('', message())
    const receiver = message().receiver_agent_id
    assert.equal((await store.claim('', {receiver, claimer: 'n1'}))?.id, id)
    await backUpDatabase(path, meshDatabase, {file, place: rename})
    await store.close()
    await restoreDatabase(file, path, meshDatabase)

    const restored = await openAt(t, path)
    const lease = {lease: held.lease_id, scopeKey: 'task:1'}
    assert.deepEqual([await restored.listLeases(''), (await restored.counts('')).leases], [[], 0])
    await assert.rejects(restored.verifyLease('', lease), {code: 'lease_not_found'})
    await assert.rejects(restored.renewLease('', {...lease, claimer: 'n1'}), {code: 'lease_not_found'})
    const next = await restored.grantLease('', {scopeKey: 'task:1', claimer: 'n2'})
    assert.ok(next.fence_token > held.fence_token)
    const [, revoked] = (await restored.listAudit('', {limit: 2})).rows
    assert.deepEqual([revoked?.actor, revoked?.action, revoked?.target], ['restore', 'lease.revoked', 'task:1'])

    assert.equal((await restored.queueStats('')).pending_count, 1)
    assert.equal((await restored.claim('', {receiver, claimer: 'n2'}))?.id, id)
    await assert.rejects(restored.ack('', {receiver, message: id, claimer: 'n1'}), {code: 'not_lease_holder'})
  })
})
