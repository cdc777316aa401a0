import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import type {MeshAuditV1, MeshDeadOutcomeV1, MeshDeadV1, MeshInboxV1} from '../../src/contracts/index.js'
import {startPlane} from '../mesh/control-plane/support/control-plane.js'
import {message, record} from '../mesh/control-plane/support/samples.js'
import {meshWorkspace} from '../support/mesh-workspace.js'

const secrets = {adminToken: 'canary-token-of-an-admin', workerToken: 'canary-token-of-a-worker'}

/** Starts a control plane with a dead message per text. Returns the command line of an administrator. */
async function withDead(t: TestContext, ...payloads: readonly string[]) {
  let now = Date.now()
  const plane = await startPlane(t, {secrets, storeTime: () => now, limits: {leaseMs: 1000, maxMessagesPerReceiver: 3}})
  await plane.store.join('', record('n-1'))
  const ids: number[] = []
  for (const payload of payloads)
    ids.push((await plane.store.deliver('', {...message({payload}), priority: 128})).message_id)
  while ((await plane.store.claim('', {receiver: '2', claimer: 'n-1'})) !== undefined) now += 1000
  const admin = {SVC_MESH_ADMIN_TOKEN: secrets.adminToken}
  return {...(await meshWorkspace(t, plane, admin)), ids: ids.map(String), store: plane.store}
}

const idsOf = ({messages}: MeshDeadV1) => messages.map(({id}) => String(id))

describe('svc mesh dead', () => {
  it('lists dead messages newest first, in pages', async (t) => {
    const {text, json, run, ids} = await withDead(t, 'one', 'two', 'three')
    const [one = '', two = '', three = ''] = ids
    const all = await json<MeshDeadV1>('dead', ['dead', 'list'])
    assert.deepEqual([idsOf(all), all.next_cursor], [[three, two, one], undefined])
    assert.deepEqual(
      all.messages.map(({payload, delivery_attempts}) => [payload, delivery_attempts]),
      ['three', 'two', 'one'].map((payload) => [payload, 16]),
    )
    const page = await json<MeshDeadV1>('dead', ['dead', 'list', '--max', '2'])
    assert.deepEqual([idsOf(page), page.next_cursor], [[three, two], two])
    assert.deepEqual(idsOf(await json<MeshDeadV1>('dead', ['dead', 'list', '--before', two])), [one])
    const {stdout, stderr} = await run(['dead', 'list', '--max', '1'])
    assert.match(stdout, /^MESSAGE +FROM +TO +TYPE +ATTEMPTS +AGE +PAYLOAD\n3 +1 +2 +\S+ +16 +\d+s +three\n$/)
    assert.equal(stderr, `Next page: --before ${three}\n`)
    await text(['dead', 'drop', ...ids])
    assert.equal(await text(['dead', 'list']), 'No dead letters.\n')
  })

  it('retries messages once, and exits with status 3 if one was not found', async (t) => {
    const {text, json, run, ids} = await withDead(t, 'one', 'two')
    const [one = '', two = ''] = ids
    const args = ['dead', 'retry', one]
    const outcome = {message_ids: [Number(one)], not_found: []}
    assert.deepEqual(await json<MeshDeadOutcomeV1>('dead-outcome', args), outcome)
    assert.deepEqual(await json<MeshDeadOutcomeV1>('dead-outcome', args), outcome)
    const {messages} = await json<MeshInboxV1>('inbox', ['inbox', '2'])
    assert.deepEqual(
      messages.map(({id, payload, delivery_attempts}) => [id, payload, delivery_attempts]),
      [[Number(one), 'one', 0]],
    )
    const {stdout, exitCode} = await run(['dead', 'retry', two, '999'])
    assert.deepEqual([stdout, exitCode], [`message ${two} is in its inbox\nmessage 999 was not found\n`, 3])
    const missing = await run(['dead', 'retry', '999', '--json'])
    assert.deepEqual([JSON.parse(missing.stdout), missing.exitCode], [{message_ids: [], not_found: [999]}, 3])
    assert.equal(await text(['dead', 'list']), 'No dead letters.\n')
  })

  it('retries no message if an inbox is full', async (t) => {
    const {fails, json, ids, store} = await withDead(t, 'one', 'two')
    for (let i = 0; i < 2; i++) await store.deliver('', {...message(), priority: 128})
    await fails(['dead', 'retry', ...ids], 5, 'inbox_full', {env: {SVC_MESH_HTTP_RETRY_TRANSIENT: '0'}})
    assert.equal((await json<MeshDeadV1>('dead', ['dead', 'list'])).messages.length, 2)
  })

  it('drops messages, and exits with status 3 if one is not dead', async (t) => {
    const {text, run, ids, store} = await withDead(t, 'one')
    const [one = ''] = ids
    const {message_id: waiting} = await store.deliver('', {...message(), priority: 128})
    for (let i = 0; i < 2; i++) assert.equal(await text(['dead', 'drop', one]), `message ${one} is dropped\n`)
    const {stdout, exitCode} = await run(['dead', 'drop', String(waiting)])
    assert.deepEqual([stdout, exitCode], [`message ${waiting} was not found\n`, 3])
    assert.equal((await store.queueStats('')).pending_count, 1)
  })

  it('requires message ids and the token of an administrator', async (t) => {
    const {fails} = await withDead(t)
    for (const verb of ['retry', 'drop']) {
      await fails(['dead', verb], 2, 'usage')
      assert.match(await fails(['dead', verb, '1', 'x'], 2, 'flag_value'), /^MESSAGE must be a message id/)
    }
    for (const flags of [
      ['--max', '257'],
      ['--max', '0'],
      ['--before', '0'],
    ])
      await fails(['dead', 'list', ...flags], 2, 'usage')
    const worker = {env: {SVC_MESH_ADMIN_TOKEN: '', SVC_MESH_WORKER_TOKEN: secrets.workerToken}}
    for (const args of [['dead', 'list'], ['dead', 'retry', '1'], ['dead', 'drop', '1'], ['audit']])
      await fails(args, 4, 'mesh_token_missing', worker)
  })
})

describe('svc mesh audit', () => {
  it('lists entries newest first, in pages', async (t) => {
    const {text, json, run, ids} = await withDead(t, 'one', 'two')
    const [one = '', two = ''] = ids
    await text(['dead', 'retry', one])
    await text(['dead', 'drop', two])
    const {entries} = await json<MeshAuditV1>('audit', ['audit'])
    assert.deepEqual(
      entries.map(({action, target}) => [action, target]),
      [
        ['message.dropped', two],
        ['message.retried', one],
        ['message.dead', two],
        ['message.dead', one],
      ],
    )
    assert.deepEqual(entries[1]?.detail, {
      receiver_agent_id: '2',
      message_type: 'remote_task_envelope',
      delivery_attempts: 16,
    })
    const page = await json<MeshAuditV1>('audit', ['audit', '--max', '3'])
    assert.deepEqual([page.entries.length, page.next_cursor], [3, '2'])
    const older = await json<MeshAuditV1>('audit', ['audit', '--before', '2'])
    assert.deepEqual([older.entries, older.next_cursor], [entries.slice(3), undefined])
    const {stdout, stderr} = await run(['audit', '--max', '1'])
    assert.match(stdout, /^ENTRY +AGE +ACTOR +ACTION +TARGET\n4 +\d+s +\S+ +message\.dropped +2\n/)
    assert.equal(stderr, 'Next page: --before 4\n')
  })

  it('reports that there are no entries', async (t) => {
    const {text} = await withDead(t)
    assert.equal(await text(['audit']), 'No entries.\n')
  })
})
