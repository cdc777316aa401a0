import assert from 'node:assert/strict'
import {once} from 'node:events'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {describe, it} from 'node:test'
import type {MeshAckV1, MeshDeliverV1, MeshInboxV1} from '../../src/contracts/index.js'
import {askMesh} from '../support/mesh-server.js'
import {meshTokens, meshWorkspace, suiteMeshServer} from '../support/mesh-workspace.js'
import {until} from '../support/orch-workspace.js'

const deliver = (to: string, ...more: string[]) => [
  'deliver',
  '--from',
  '1',
  '--to',
  to,
  '--type',
  'free_form',
  ...more,
]

describe('mesh messages', () => {
  const server = suiteMeshServer()

  it('are delivered, claimed and acknowledged', async (t) => {
    const {text, json, join} = await meshWorkspace(t, server())
    await join('a')
    assert.equal(await text(['inbox', '2']), 'No messages.\n')
    const first = (await text(deliver('2', '{"say": "hello"}'))).trim()
    const second = await json<MeshDeliverV1>('deliver', deliver('2', '--priority', '200', '-'), {input: 'urgent\n'})
    const {messages} = await json<MeshInboxV1>('inbox', ['inbox', '2'])
    assert.deepEqual(
      messages.map(({id, payload, priority}) => [id, payload, priority]),
      [
        [second.message_id, 'urgent', 200],
        [Number(first), '{"say": "hello"}', 128],
      ],
    )
    const claim = ['inbox', '2', '--claim', '--node', 'a']
    const [claimed] = (await json<MeshInboxV1>('inbox', claim)).messages
    assert.deepEqual([claimed?.id, claimed?.lease_holder_node_id], [second.message_id, 'a'])
    assert.match(await text(['inbox', '2']), /^MESSAGE +FROM +TYPE .*\n\d+ +1 +free_form +200 +\d+s +urgent\n/)
    const ack = ['ack', '2', String(second.message_id), '--node', 'a']
    assert.deepEqual(await json<MeshAckV1>('ack', ack), {
      receiver_agent_id: '2',
      message_id: second.message_id,
      acknowledged: true,
    })
    assert.equal(await text(ack), `message ${second.message_id} is acknowledged\n`, 'again is the same')
    const [next] = (await json<MeshInboxV1>('inbox', claim)).messages
    assert.equal(next?.id, Number(first))
    await text(['ack', '2', first, '--node', 'a'])
    assert.deepEqual(await json('inbox', ['inbox', '2']), {messages: []})
    await text(['leave', '--node', 'a'])
  })

  it('are stored once per idempotency key, which must belong to the same message', async (t) => {
    const {json, run, fails} = await meshWorkspace(t, server())
    const keyed = deliver('3', '--key', 'k', 'one')
    const {message_id: id} = await json<MeshDeliverV1>('deliver', keyed)
    assert.deepEqual(await json('deliver', keyed), {accepted: true, message_id: id, duplicate: true})
    const {stdout, stderr} = await run(keyed)
    assert.deepEqual([stdout, stderr], [`${id}\n`, 'Duplicate message; not stored again.\n'])
    await fails(deliver('3', '--key', 'k', 'other'), 4, 'idempotency_key_reused')
  })

  it('are read in pages and by type', async (t) => {
    const {json, text} = await meshWorkspace(t, server())
    for (const say of ['a', 'b', 'c']) await text(deliver('4', say))
    await text(['deliver', '--from', '1', '--to', '4', '--type', 'help_request', 'd'])
    const page = async (...more: string[]) => (await json<MeshInboxV1>('inbox', ['inbox', '4', ...more])).messages
    const newest = await page('--max', '2')
    assert.deepEqual(
      newest.map(({payload}) => payload),
      ['d', 'c'],
    )
    const older = await page('--max', '2', '--before', String(newest[1]?.id))
    assert.deepEqual(
      older.map(({payload}) => payload),
      ['b', 'a'],
    )
    const found = await page('--type', 'help_request', '--type', 'error_report')
    assert.deepEqual(
      found.map(({payload}) => payload),
      ['d'],
    )
  })

  it('are waited for with --wait', async (t) => {
    const {startInTurn, text, json} = await meshWorkspace(t, server())
    const waiting = startInTurn(['mesh', 'inbox', '5', '--wait', '30', '--json'])
    const metrics = async () => (await askMesh(server(), '/metrics', {token: meshTokens.SVC_MESH_TOKEN})).text
    await until(async () => /^svc_mesh_long_polls 1$/m.test(await metrics()), 'a request that waits')
    assert.deepEqual(waiting.lines, [])
    await text(deliver('5', 'at last'))
    const {messages} = JSON.parse(await waiting.line(1)) as MeshInboxV1
    assert.deepEqual(
      messages.map(({payload}) => payload),
      ['at last'],
    )
    assert.equal(await waiting.end(), 0)
    const from = performance.now()
    assert.deepEqual(await json('inbox', ['inbox', '6', '--wait', '1']), {messages: []})
    assert.ok(performance.now() - from >= 1000)
  })

  it('are polled if the control plane does not support waiting', async (t) => {
    let requests = 0
    const hasty = createServer((_request, response) => {
      requests++
      response.writeHead(200, {'content-type': 'application/json'}).end('{"messages":[]}')
    }).listen(0, '127.0.0.1')
    await once(hasty, 'listening')
    t.after(() => {
      hasty.closeAllConnections()
      hasty.close()
    })
    const {json} = await meshWorkspace(t, {baseUrl: `http://127.0.0.1:${(hasty.address() as AddressInfo).port}`}, {})
    assert.deepEqual(await json('inbox', ['inbox', '2', '--wait', '2']), {messages: []})
    assert.ok(requests >= 2 && requests <= 4, `${requests} requests`)
  })

  it('are acknowledged only by the node that claimed them', async (t) => {
    const {text, json, fails, join} = await meshWorkspace(t, server())
    for (const node of ['d', 'e']) await join(node)
    const id = (await text(deliver('8', 'x'))).trim()
    await text(['inbox', '8', '--claim', '--node', 'd'])
    await fails(['ack', '8', id], 2, 'usage')
    await fails(['ack', '8', id, '--node', 'e'], 4, 'not_lease_holder')
    const {messages} = await json<MeshInboxV1>('inbox', ['inbox', '8'])
    assert.deepEqual([messages[0]?.id, messages[0]?.lease_holder_node_id], [Number(id), 'd'])
    for (const node of ['d', 'e']) await text(['leave', '--node', node])
  })

  it('require a token of the right role', async (t) => {
    const {SVC_MESH_WORKER_TOKEN, SVC_MESH_SUBMITTER_TOKEN} = meshTokens
    const worker = await meshWorkspace(t, server(), {SVC_MESH_WORKER_TOKEN})
    await worker.fails(deliver('7', 'x'), 4, 'mesh_token_missing')
    const submitter = await meshWorkspace(t, server(), {SVC_MESH_SUBMITTER_TOKEN})
    const id = (await submitter.text(deliver('7', 'x'))).trim()
    await submitter.fails(['inbox', '7'], 4, 'mesh_token_missing')
    for (const node of ['b', 'c']) await worker.join(node)
    await worker.text(['inbox', '7', '--claim', '--node', 'b'])
    await worker.fails(['ack', '7', id, '--node', 'c'], 4, 'not_lease_holder')
    await worker.text(['ack', '7', id, '--node', 'b'])
    await worker.fails(['ack', '7', '999999', '--node', 'b'], 3, 'mesh_missing')
  })

  it('require agent numbers, and a node for claims', async (t) => {
    const {fails} = await meshWorkspace(t, server())
    const isNamed = async (name: string, args: readonly string[]) =>
      assert.match(await fails(args, 2, 'flag_value'), new RegExp(`^${name} must be `))
    for (const agent of ['bert', '', '1.5', '18446744073709551616']) await isNamed('--to', deliver(agent, 'x'))
    await isNamed('--from', ['deliver', '--from', 'bert', '--to', '2', '--type', 't', 'x'])
    await isNamed('AGENT', ['inbox', 'bert'])
    await isNamed('AGENT', ['ack', 'bert', '1', '--node', 'a'])
    for (const message of ['abc', '1.5', '0']) await isNamed('MESSAGE', ['ack', '2', message, '--node', 'a'])
    await fails(['inbox', '2', '--claim'], 2, 'usage')
    await fails(['inbox', '2', '--claim', '--max', '3'], 2, 'usage')
    await fails(['inbox', '2', '--max', '257'], 2, 'usage')
    await fails(['inbox', '2', '--before', '9', '--wait', '5'], 2, 'usage')
    await fails(['deliver', '--from', '1', 'x'], 2, 'usage')
    await fails(deliver('2'), 2, 'usage')
    await fails(deliver('2', ' '), 2, 'usage')
  })
})
