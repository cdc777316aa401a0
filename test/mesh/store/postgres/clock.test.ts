import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {runSql, skipWithoutPostgres} from '../../../support/postgres.js'
import {hour, message, minute, refused} from '../conformance/story.js'
import {limits, newStoreDatabase, openAt} from './open-store.js'

/** Opens a store whose database reads a system clock that the test sets. It saves the time only on request. */
async function begin(t: TestContext) {
  const url = await newStoreDatabase()
  await runSql(
    url,
    `CREATE TABLE test_clock AS SELECT mesh_wall_clock() AS wall;
CREATE OR REPLACE FUNCTION mesh_wall_clock() RETURNS bigint LANGUAGE plpgsql VOLATILE AS
  $$ BEGIN RETURN (SELECT wall FROM test_clock); END $$`,
  )
  const store = await openAt(t, url, {tickMs: 1 << 30})
  await store.join('', {id: 'n1', version: '1.0.0', capabilities: {}})
  const number = async (sql: string) => Number(Object.values((await runSql(url, sql))[0] ?? {})[0])
  return {
    store,
    now: () => number('SELECT mesh_now()'),
    tick: () => number('SELECT mesh_tick(false)'),
    step: (ms: number) => runSql(url, `UPDATE test_clock SET wall = wall + ${ms}`),
    /** Lets the time pass while it is saved regularly. */
    pass: (ms: number) =>
      runSql(
        url,
        `DO $$ BEGIN
  FOR i IN 1..${ms / 5000} LOOP
    UPDATE test_clock SET wall = wall + 5000;
    PERFORM mesh_tick(false);
  END LOOP;
END $$`,
      ),
  }
}

describe('the clock of a PostgreSQL store', {skip: skipWithoutPostgres}, () => {
  it('does not go back behind the last saved time, and then approaches the system time', async (t) => {
    const {now, tick, step} = await begin(t)
    const start = await now()
    await step(-hour)
    assert.equal(await now(), start)
    assert.equal(await tick(), start)
    for (let i = 1; i <= 10; i++) {
      await step(1000)
      assert.equal(await tick(), start + i * 950)
    }
  })

  it('is not estimated to be before the last heartbeat of a node', async (t) => {
    const {store, now, step} = await begin(t)
    for (const use of [
      () => store.heartbeat('', {facts: {id: 'n1'}, isFull: false}),
      () => store.heartbeat('', {facts: {id: 'n1', version: '1.0.1'}, isFull: false}),
      () => store.setQuarantine('', 'n1', true, 'operator'),
      () => store.listNodes('', {limit: 10, staleAfterMs: hour}),
    ]) {
      await step(2000)
      await use()
      const [time, estimate] = [await now(), store.now()]
      assert.ok(estimate >= time, `${estimate} is before ${time}`)
    }
  })

  it('does not end leases when the system clock is set forward', async (t) => {
    const {store, now, tick, step} = await begin(t)
    const {lease_id: lease} = await store.grantLease('', {scopeKey: 'task:1', claimer: 'n1'})
    const {message_id: id} = await store.deliver('', message())
    await store.claim('', {receiver: '2', claimer: 'n1'})
    const start = await now()
    await step(hour)
    assert.equal(await now(), start + 5000)
    await store.verifyLease('', {lease, scopeKey: 'task:1'})
    assert.equal(await tick(), start + hour)
    const {expires_unix_ms: until} = await store.verifyLease('', {lease, scopeKey: 'task:1'})
    assert.equal(until, start + hour + limits.leaseMs)
    assert.equal((await store.peek('', {receiver: '2', limit: 1}))[0]?.lease_expires_unix_ms, until)
    const {rows} = await store.listAudit('', {limit: 1})
    assert.equal(rows[0]?.detail.expires_unix_ms, until)
    await store.ack('', {receiver: '2', message: id, claimer: 'n1'})
  })

  it('is not trusted for deletions within an hour after it was set forward', async (t) => {
    const {store, tick, step, pass} = await begin(t)
    await store.useTokenId('id', store.now() + minute)
    await step(2 * hour)
    await tick()
    assert.equal(await store.purge(), false)
    assert.equal(await store.useTokenId('id', store.now()), false)
    await pass(hour)
    await store.purge()
    assert.equal(await store.useTokenId('id', store.now()), true)
  })

  it('does not revive a lease that was found expired', async (t) => {
    const {store, step, pass} = await begin(t)
    const {lease_id: lease} = await store.grantLease('', {scopeKey: 'task:1', claimer: 'n1'})
    await pass(limits.leaseMs)
    await refused(store.renewLease('', {lease, claimer: 'n1'}), 'lease_not_found')
    await step(-hour)
    await refused(store.renewLease('', {lease, claimer: 'n1'}), 'lease_not_found')
    assert.ok(Number((await store.grantLease('', {scopeKey: 'task:1', claimer: 'n1'})).lease_id) > Number(lease))
  })
})
