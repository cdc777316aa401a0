import assert from 'node:assert/strict'
import {createHash} from 'node:crypto'
import {describe, it, type TestContext} from 'node:test'
import {exportMesh, importMesh, type MeshPlace} from '../../../src/mesh/index.js'
import type {MeshStore} from '../../../src/mesh/store/mesh-store.js'
import {openPostgresMeshStore} from '../../../src/mesh/store/postgres/open.js'
import {openSqliteMeshStore} from '../../../src/mesh/store/sqlite/open.js'
import {createDatabase, skipWithoutPostgres} from '../../support/postgres.js'
import {randomHistory} from './conformance/model.js'
import {begin, day, hour, leaseMs, message, refused, type Story} from './conformance/story.js'
import {newStoreDatabase} from './postgres/open-store.js'
import {limits, newPath, openAt} from './sqlite/open-store.js'

const open = (place: MeshPlace): Promise<MeshStore> =>
  'url' in place ? openPostgresMeshStore(place.url, limits) : openSqliteMeshStore(place.path, limits)

async function exported(place: MeshPlace, isLive = false): Promise<string[]> {
  const lines: string[] = []
  for await (const line of exportMesh(place, isLive).lines) lines.push(line)
  return lines
}

/** Imports lines in small chunks, which end within lines and characters. */
function imported(place: MeshPlace, lines: readonly string[]) {
  const bytes = Buffer.from(lines.join(''))
  async function* chunks() {
    for (let start = 0; start < bytes.length; start += 1000) yield bytes.subarray(start, start + 1000)
  }
  return importMesh(place, chunks(), 'mesh.ndjson')
}

const blob = Buffer.from('a file of a task')
const sha256 = createHash('sha256').update(blob).digest('hex')
const keyed = {idempotency_key: 'kept', payload: 'nul \u0000, é, 🙂'}

/** Numbers and ids that must survive. */
interface Facts {
  lease: string
  fence: number
  /** Message with the idempotency key, and the last one. */
  keyed: number
  last: number
  /** Message that n1 has claimed. */
  claimed: number
  auditId: number
  now: number
}

/** Opens a SQLite store on the system time whose clock the test can advance, and fills it. */
async function filled(test: TestContext, path: string, seed: number): Promise<Facts> {
  let offset: number | undefined
  const story = await begin(test, (_test, {limits, wallClock, monotonic}) => {
    offset ??= Date.now() - wallClock()
    const shift = offset
    return openSqliteMeshStore(path, limits, {wallClock: () => wallClock() + shift, monotonic})
  })
  await randomHistory(story, seed)
  const facts = await fill(story)
  await story.close()
  return facts
}

async function fill(story: Story): Promise<Facts> {
  const {store} = story
  for (const node of ['q1', 'q2', 'm1']) await story.join(node, {capabilities: {labels: ['pool=é'], gpu_cuda: true}})
  await story.join('n1', {}, 'other')
  await store.setQuarantine('', 'q1', true, 'admin')
  await store.leave('', 'q1')
  await store.setQuarantine('', 'q2', true, 'admin')
  await store.setMaintenance('', 'm1', {on: true, forMs: day}, 'admin')
  // The last heartbeat is only in the journal.
  await story.beat('m1', {cpu_usage_pct: 12.5, memory_free_bytes: 8e12})
  const {lease_id: lease} = await story.grant('n1', 'kept')
  const ended = await story.grant('n1', 'ended')
  await store.releaseLease('', {lease: ended.lease_id, claimer: 'n1'})
  const keyedId = await story.deliver(keyed)
  await story.ack(keyedId)
  await story.deliver({receiver_agent_id: '3', payload: 'claimed', requirements: {min_vram_mb: 0, gpu_cuda: false}})
  const claimed = (await story.claim('n1', '3'))?.id ?? 0
  const dead = await story.deliver({receiver_agent_id: '4', task_kind: 'poison', jwe_payload: 'a.b.c.d.e'})
  for (let i = 0; i < 17; i++) {
    await story.claim('n1', '4')
    story.clock.advance(leaseMs / 2)
    await store.renewLease('', {lease, claimer: 'n1'})
    await store.renewClaim('', {receiver: '3', message: claimed, claimer: 'n1'})
  }
  const {rows: deadRows} = await store.listDead('', {limit: 10})
  assert.deepEqual(
    deadRows.map(({id}) => id),
    [dead],
  )
  await story.deliver({payload: 'x'.repeat(100_000)}, 'other')
  const last = await story.deliver({receiver_agent_id: '5'})
  await story.ack(last, undefined, '5')
  await store.putBlob('', {sha256, bytes: blob})
  await store.useTokenId('jti-1', store.now() + hour)
  await store.useBootstrap('', sha256, {expiresMs: store.now() + hour, by: 'm1'})
  const {rows} = await store.listAudit('', {limit: 1})
  const [{id: auditId} = {id: 0}] = rows
  return {lease, fence: Number(ended.lease_id), keyed: keyedId, last, claimed, auditId, now: store.now()}
}

/** Asserts that a store continues where the one with these facts has stopped. */
async function continues(store: MeshStore, facts: Facts): Promise<void> {
  assert.ok(store.now() >= facts.now, 'the clock does not go back')
  await store.renewLease('', {lease: facts.lease, claimer: 'n1'})
  await refused(store.grantLease('', {scopeKey: 'kept', claimer: 'n2'}), 'lease_held')
  const {fence_token} = await store.grantLease('', {scopeKey: 'new', claimer: 'n1'})
  assert.ok(fence_token > facts.fence)

  assert.deepEqual(await store.deliver('', message(keyed)), {accepted: true, message_id: facts.keyed, duplicate: true})
  await refused(store.deliver('', message({...keyed, payload: 'changed'})), 'idempotency_key_reused')
  assert.ok((await store.deliver('', message())).message_id > facts.last)
  const claim = {receiver: '3', message: facts.claimed}
  await refused(store.ack('', {...claim, claimer: 'n2'}), 'not_lease_holder')
  await store.renewClaim('', {...claim, claimer: 'n1'})
  assert.equal((await store.claim('', {receiver: '3', claimer: 'n1'}))?.payload, 'claimed')
  const {rows: dead} = await store.listDead('', {limit: 10})
  assert.equal(dead[0]?.delivery_attempts, 16)
  assert.equal(dead[0]?.jwe_payload, 'a.b.c.d.e')
  assert.equal((await store.queueStats('other')).pending_count, 1)

  await refused(store.grantLease('', {scopeKey: 'x', claimer: 'q2'}), 'node_quarantined')
  await refused(store.grantLease('', {scopeKey: 'x', claimer: 'm1'}), 'node_maintenance')
  await store.join('', {id: 'q1', version: '1.0.0', capabilities: {}})
  await refused(store.grantLease('', {scopeKey: 'x', claimer: 'q1'}), 'node_quarantined')
  const {records} = await store.listNodes('', {limit: 100})
  const node = records.map((record) => JSON.parse(record)).find(({id}) => id === 'm1')
  assert.equal(node.cpu_usage_pct, 12.5)
  assert.deepEqual(node.capabilities.labels, ['pool=é'])

  assert.equal(await store.useTokenId('jti-1', facts.now + hour), false)
  await refused(store.useBootstrap('', sha256, {expiresMs: facts.now + hour, by: 'n2'}), 'bootstrap_consumed')
  assert.deepEqual(await store.getBlob('', sha256), blob)
  const {rows} = await store.listAudit('', {limit: 1})
  assert.ok((rows[0]?.id ?? 0) > facts.auditId)
}

async function continuesAt(place: MeshPlace, facts: Facts): Promise<void> {
  const store = await open(place)
  try {
    await continues(store, facts)
  } finally {
    await store.close()
  }
}

describe('an exported mesh', () => {
  for (const seed of [1, 2, 3])
    it(`continues in another SQLite file, seed ${seed}`, async (t) => {
      const [from, to] = [{path: await newPath(t)}, {path: await newPath(t)}]
      const facts = await filled(t, from.path, seed)
      const lines = await exported(from)
      const counts = await imported(to, lines)
      assert.equal(
        lines.length,
        Object.values(counts).reduce((sum, count) => sum + count, 2),
      )
      assert.deepEqual(await exported(to), lines)
      await continuesAt(to, facts)
    })

  for (const seed of [4, 5])
    it(`moves to PostgreSQL and back, seed ${seed}`, {skip: skipWithoutPostgres}, async (t) => {
      const [file, database] = [{path: await newPath(t)}, {url: await createDatabase()}]
      const facts = await filled(t, file.path, seed)
      const lines = await exported(file)
      await imported(database, lines)
      assert.deepEqual(await exported(database), lines)
      await continuesAt(database, facts)
      const [later, back] = [await exported(database), {path: await newPath(t)}]
      assert.notDeepEqual(later, lines)
      await imported(back, later)
      assert.deepEqual(await exported(back), later)
      const store = await openAt(t, back.path)
      await store.renewLease('', {lease: facts.lease, claimer: 'n1'})
      assert.deepEqual(await store.getBlob('', sha256), blob)
    })

  it('enforces the limits of inboxes in PostgreSQL', {skip: skipWithoutPostgres}, async (t) => {
    const [file, database] = [{path: await newPath(t)}, {url: await createDatabase()}]
    const before = await openSqliteMeshStore(file.path, limits)
    for (let i = 0; i < 3; i++) await before.deliver('', message())
    await before.close()
    await imported(database, await exported(file))
    const store = await openPostgresMeshStore(database.url, {...limits, maxMessagesPerReceiver: 4})
    t.after(() => store.close())
    await store.deliver('', message())
    await refused(store.deliver('', message()), 'inbox_full')
  })

  it('is read from PostgreSQL in pages', {skip: skipWithoutPostgres}, async (t) => {
    const [file, database] = [{path: await newPath(t)}, {url: await createDatabase()}]
    const before = await openSqliteMeshStore(file.path, limits)
    await Promise.all(Array.from({length: 1200}, () => before.deliver('', message())))
    for (let i = 0; i < 3; i++) await before.putBlob('', {sha256: `${i}`, bytes: Buffer.alloc(3 << 20, i)})
    await before.close()
    const lines = await exported(file)
    await imported(database, lines)
    assert.deepEqual(await exported(database), lines)
  })

  it('extends leases by the time since the store was closed', async (t) => {
    const [from, to] = [{path: await newPath(t)}, {path: await newPath(t)}]
    const past = Date.now() - day
    const before = await openSqliteMeshStore(from.path, limits, {wallClock: () => past, monotonic: () => 0})
    await before.join('', {id: 'n1', version: '1.0.0', capabilities: {}})
    const {lease_id: lease} = await before.grantLease('', {scopeKey: 'k', claimer: 'n1'})
    await before.close()
    const lines = await exported(from)
    await imported(to, lines)
    const places: MeshPlace[] = [to]
    if (skipWithoutPostgres === false) places.push({url: await newStoreDatabase()})
    for (const place of places) {
      if (place !== to) await imported(place, lines)
      const store = await open(place)
      t.after(() => store.close())
      await store.renewLease('', {lease, claimer: 'n1'})
    }
  })

  it('is not imported if it is damaged', async (t) => {
    const [from, to] = [{path: await newPath(t)}, {path: await newPath(t)}]
    await filled(t, from.path, 6)
    const lines = await exported(from)
    const places: MeshPlace[] = skipWithoutPostgres === false ? [to, {url: await newStoreDatabase()}] : [to]
    const middle = Math.floor(lines.length / 2)
    const last = lines.at(-1) ?? ''
    const lease = lines.findIndex((line) => line.includes('mesh_exec_leases'))
    const damages: Readonly<Record<string, string[]>> = {
      empty: [],
      'another file': ['{"table": "Task", "record": {}}\n'],
      'another version': ['{"format":"svc-mesh-export","version":2}\n', ...lines.slice(1)],
      'no footer': lines.slice(0, -1),
      'cut in the footer': [...lines.slice(0, -1), last.slice(0, 40)],
      'cut in a row': [...lines.slice(0, middle), lines[middle]?.slice(0, 30) ?? ''],
      'a missing row': lines.toSpliced(middle, 1),
      'a repeated row': lines.toSpliced(lease, 0, lines[lease] ?? ''),
      'an unknown table': lines.toSpliced(middle, 0, '{"table":"sqlite_schema","record":{}}\n'),
      'a changed character': lines.map((line) => line.replace('key 1"', 'key 2"')),
      'a changed type': lines.map((line) => line.replace('"renewals":0', '"renewals":"0"')),
      'a state that does not exist': lines.map((line) => line.replace('"state":"released"', '"state":"lost"')),
      'a second file': [...lines, ...lines],
    }
    for (const place of places) {
      for (const [what, damaged] of Object.entries(damages)) {
        assert.notDeepEqual(damaged, lines, what)
        await refused(imported(place, damaged), 'mesh_export_invalid')
      }
      await imported(place, lines)
      await refused(imported(place, lines), 'mesh_not_empty')
      assert.deepEqual(await exported(place), lines)
    }
  })
})

describe('a mesh in use', () => {
  const check = async (place: MeshPlace, empty: MeshPlace) => {
    const store = await open(place)
    await store.deliver('', message(keyed))
    await refused(exported(place), 'mesh_in_use')
    const lines = await exported(place, true)
    await refused(imported(place, lines), 'store_busy')
    await store.close()
    await imported(empty, lines)
    const copy = await open(empty)
    assert.deepEqual(
      (await copy.peek('', {receiver: '2', limit: 10})).map(({payload}) => payload),
      [keyed.payload],
    )
    assert.ok((await copy.deliver('', message(keyed))).duplicate)
    await copy.close()
  }

  it('is exported from one point in time while it is written', async (t) => {
    const [path, copied] = [await newPath(t), await newPath(t)]
    const store = await open({path})
    const delivered: number[] = []
    const deliver = async () => {
      delivered.push((await store.deliver('', message({payload: String(delivered.length)}))).message_id)
    }
    while (delivered.length < 20) await deliver()
    const lines: string[] = []
    // Between any two lines, the control plane commits.
    for await (const line of exportMesh({path}, true).lines) {
      lines.push(line)
      await deliver()
    }
    await store.close()
    await imported({path: copied}, lines)
    const copy = await open({path: copied})
    const ids = (await copy.peek('', {receiver: '2', limit: 1000})).map(({id}) => Number(id)).reverse()
    assert.ok(ids.length >= 20 && ids.length < delivered.length)
    assert.deepEqual(ids, delivered.slice(0, ids.length))
    assert.ok((await copy.deliver('', message({payload: 'next'}))).message_id > (ids.at(-1) as number))
    await copy.close()
  })

  it('is only exported as a backup, from SQLite', async (t) =>
    check({path: await newPath(t)}, {path: await newPath(t)}))

  it('is only exported as a backup, from PostgreSQL', {skip: skipWithoutPostgres}, async (t) =>
    check({url: await createDatabase()}, {path: await newPath(t)}),
  )

  it('is not created by an export', async (t) => {
    await refused(exported({path: await newPath(t)}), 'file_not_found')
  })
})
