import assert from 'node:assert/strict'
import {it} from 'node:test'
import {begin, leaseMs, type OpenStore, refused} from './story.js'

export function leaseConformance(open: OpenStore): void {
  it('are held by one node while it renews them', async (t) => {
    const story = await begin(t, open)
    await story.join('n2')
    const lease = await story.grant('n1', 'task:1')
    assert.deepEqual(lease, {
      lease_id: lease.lease_id,
      fence_token: Number(lease.lease_id),
      scope_key: 'task:1',
      holder_node_id: 'n1',
      expires_unix_ms: story.clock.wall + leaseMs,
    })
    assert.match(lease.lease_id, /^[1-9][0-9]*$/)
    for (let i = 0; i < 3; i++) {
      story.clock.advance(leaseMs - 1)
      await refused(story.grant('n2', 'task:1'), 'lease_held')
      await story.store.renewLease('', {lease: lease.lease_id, claimer: 'n1'})
    }
    const until = story.clock.wall + leaseMs
    assert.deepEqual(await story.store.verifyLease('', {lease: lease.lease_id, scopeKey: 'task:1'}), {
      valid: true,
      holder_node_id: 'n1',
      expires_unix_ms: until,
      server_time_unix_ms: story.clock.wall,
    })
    assert.deepEqual(await story.store.listLeases(''), [{...lease, expires_unix_ms: until}])
    story.clock.advance(leaseMs)
    assert.deepEqual(await story.store.listLeases(''), [])
    assert.equal((await story.grant('n2', 'task:1')).holder_node_id, 'n2')
  })

  it('keep their token while held and get a greater one afterwards', async (t) => {
    const story = await begin(t, open)
    await story.join('n2')
    const tokens: number[] = []
    const grant = async (node: string) => tokens.push((await story.grant(node, 'task:1')).fence_token)
    await grant('n1')
    story.clock.advance(1000)
    await grant('n1')
    assert.equal(tokens[0], tokens[1])
    tokens.pop()
    story.clock.advance(leaseMs)
    await grant('n1')
    await story.store.releaseLease('', {lease: String(tokens.at(-1)), claimer: 'n1'})
    await story.restart()
    await grant('n2')
    await story.store.revokeLease('', String(tokens.at(-1)), 'admin')
    await story.restart()
    await grant('n1')
    await story.store.leave('', 'n1')
    await story.restart(30 * 86_400_000)
    await grant('n2')
    for (const [i, token] of tokens.entries()) assert.ok(token > (tokens[i - 1] ?? 0), tokens.join(' '))
  })

  it('can be renewed and released only by their holder', async (t) => {
    const story = await begin(t, open)
    await story.join('n2')
    const {lease_id: lease} = await story.grant('n1', 'task:1')
    const {store} = story
    const requests: readonly [
      lease: string,
      claimer: string,
      code: 'not_lease_holder' | 'lease_not_found' | 'unknown_node',
    ][] = [
      [lease, 'n2', 'not_lease_holder'],
      [lease, 'nobody', 'unknown_node'],
      [String(Number(lease) + 1), 'n1', 'lease_not_found'],
      ['0', 'n1', 'lease_not_found'],
      ['-1', 'n1', 'lease_not_found'],
      [`${lease} OR 1=1`, 'n1', 'lease_not_found'],
      [`${lease}.0`, 'n1', 'lease_not_found'],
      ['9'.repeat(400), 'n1', 'lease_not_found'],
      ['', 'n1', 'lease_not_found'],
    ]
    for (const [id, claimer, code] of requests) {
      await refused(store.renewLease('', {lease: id, claimer}), code)
      await refused(store.releaseLease('', {lease: id, claimer}), code)
    }
    await refused(store.verifyLease('', {lease, scopeKey: 'task:2'}), 'lease_not_found')
    await refused(store.grantLease('', {scopeKey: 'task:3', claimer: 'nobody'}), 'unknown_node')
    await store.releaseLease('', {lease, claimer: 'n1'})
    await refused(store.releaseLease('', {lease, claimer: 'n1'}), 'lease_not_found')
    await refused(store.renewLease('', {lease, claimer: 'n1'}), 'lease_not_found')
  })

  it('can be revoked once', async (t) => {
    const story = await begin(t, open)
    const {lease_id: lease} = await story.grant('n1', 'task:1')
    await story.store.revokeLease('', lease, 'admin')
    await refused(story.store.revokeLease('', lease, 'admin'), 'lease_not_found')
    await refused(story.store.renewLease('', {lease, claimer: 'n1'}), 'lease_not_found')
    await refused(story.store.verifyLease('', {lease, scopeKey: 'task:1'}), 'lease_not_found')
  })

  for (const find of ['renew', 'release', 'verify', 'revoke', 'list', 'the clock'] as const)
    it(`that have expired do not become active again, detected by ${find}`, async (t) => {
      const story = await begin(t, open)
      const {store} = story
      const {lease_id: lease} = await story.grant('n1', 'task:1')
      story.clock.advance(leaseMs)
      if (find === 'renew') await refused(store.renewLease('', {lease, claimer: 'n1'}), 'lease_not_found')
      if (find === 'release') await refused(store.releaseLease('', {lease, claimer: 'n1'}), 'lease_not_found')
      if (find === 'verify') await refused(store.verifyLease('', {lease, scopeKey: 'task:1'}), 'lease_not_found')
      if (find === 'revoke') await refused(store.revokeLease('', lease, 'admin'), 'lease_not_found')
      if (find === 'list') assert.deepEqual(await store.listLeases(''), [])
      if (find === 'the clock') assert.equal(store.now(), story.clock.wall)
      story.clock.step(-leaseMs)
      await story.restart()
      await refused(story.store.renewLease('', {lease, claimer: 'n1'}), 'lease_not_found')
      assert.notEqual((await story.grant('n1', 'task:1')).lease_id, lease)
    })

  it('are separated by scope', async (t) => {
    const story = await begin(t, open)
    await story.join('n1', {}, 'a')
    await story.join('n1', {}, 'b')
    const {lease_id: lease} = await story.grant('n1', 'task:1', 'a')
    const other = await story.grant('n1', 'task:1', 'b')
    assert.notEqual(other.lease_id, lease)
    await refused(story.store.renewLease('b', {lease, claimer: 'n1'}), 'lease_not_found')
    await refused(story.store.revokeLease('b', lease, 'admin'), 'lease_not_found')
    await refused(story.store.verifyLease('b', {lease, scopeKey: 'task:1'}), 'lease_not_found')
    await story.store.leave('b', 'n1')
    assert.deepEqual(
      (await story.store.listLeases('a')).map(({lease_id}) => lease_id),
      [lease],
    )
    assert.deepEqual(await story.store.listLeases('b'), [])
  })

  it('are granted to one of many concurrent claimers', async (t) => {
    const story = await begin(t, open)
    const ids = Array.from({length: 200}, (_, i) => `m${i}`)
    await Promise.all(ids.map((id) => story.join(id)))
    const outcomes = await Promise.allSettled(ids.map((id) => story.grant(id, 'task:1')))
    const granted = outcomes.filter(({status}) => status === 'fulfilled')
    assert.equal(granted.length, 1)
    assert.equal((await story.store.listLeases('')).length, 1)
  })
}
