import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {routes} from '../../../src/mesh/index.js'
import {everyOperation, operationNames, sha256} from './support/every-operation.js'
import {reply, scriptedControlPlane} from './support/scripted-control-plane.js'

describe('mesh client', () => {
  for (const operation of operationNames)
    it(`sends ${operation} to its declared route`, async (t) => {
      const {ask, body, answer, type} = everyOperation[operation]
      const {method, path, ok} = routes[operation]
      const plane = await scriptedControlPlane(t, (response) => reply(response, ok, answer))
      await ask(plane.connect())
      const [asked] = plane.asked
      assert.equal(plane.asked.length, 1)
      assert.deepEqual(
        [asked?.route, asked?.query, asked?.body],
        [`${method} ${path.replace('{sha256}', sha256)}`, '', body],
      )
      assert.equal(asked?.headers['content-type'], body === undefined ? type : 'application/json')
      const isExchange = operation === 'bootstrap_exchange'
      assert.equal(asked?.headers.authorization, isExchange ? 'Bearer one-shot-token' : undefined)
    })

  it('filters the list of nodes', async (t) => {
    const plane = await scriptedControlPlane(t, (response) => reply(response, 200, {schema_version: 1, nodes: []}))
    const labels = ['pool=train', 'a b']
    await plane.connect().listNodes({limit: 5, cursor: 'x/y', fields: 'brief', labels, updatedSinceUnixMs: 9})
    const query = Object.fromEntries(new URLSearchParams(plane.asked[0]?.query))
    const expected = {limit: '5', cursor: 'x/y', fields: 'brief', labels: 'pool=train,a b', updated_since_unix_ms: '9'}
    assert.deepEqual(query, expected)
  })

  it('pages through dead messages and the audit log', async (t) => {
    const plane = await scriptedControlPlane(t, (response, {route}) =>
      reply(response, 200, {[route.endsWith('audit') ? 'entries' : 'messages']: [], next_cursor: '17'}),
    )
    const client = plane.connect()
    assert.deepEqual(await client.listDead({limit: 5, cursor: 40}), {messages: [], next_cursor: '17'})
    assert.deepEqual(await client.listAudit({limit: 5, cursor: '40'}), {entries: [], next_cursor: '17'})
    for (const {query} of plane.asked)
      assert.deepEqual(Object.fromEntries(new URLSearchParams(query)), {limit: '5', cursor: '40'})
  })

  it('sends all fields of a message', async (t) => {
    const plane = await scriptedControlPlane(t, (response) =>
      reply(response, 200, {accepted: true, message_id: 7, duplicate: true}),
    )
    const delivered = await plane.connect().deliver({
      senderAgentId: '1',
      receiverAgentId: '2',
      messageType: 'job_result',
      payload: '{}',
      idempotencyKey: 'k',
      privacyClass: 'private',
      priority: 200,
      taskKind: 'embed',
      modelId: 'm',
      traceparent: '00-1-2-01',
      jwePayload: 'j',
      requirements: {gpu_cuda: true},
      payloadBlake3Hex: 'ff',
      workerEd25519SigB64: 'AA==',
    })
    assert.deepEqual(delivered, {accepted: true, message_id: 7, duplicate: true})
    assert.deepEqual(plane.asked[0]?.body, {
      sender_agent_id: '1',
      receiver_agent_id: '2',
      message_type: 'job_result',
      payload: '{}',
      idempotency_key: 'k',
      privacy_class: 'private',
      priority: 200,
      task_kind: 'embed',
      model_id: 'm',
      traceparent: '00-1-2-01',
      jwe_payload: 'j',
      requirements: {gpu_cuda: true},
      payload_blake3_hex: 'ff',
      worker_ed25519_sig_b64: 'AA==',
    })
  })

  it('sends the inbox options and extends the timeout by the requested wait', async (t) => {
    const plane = await scriptedControlPlane(t, (response) =>
      setTimeout(() => reply(response, 200, {messages: [{id: 3, payload: ''}]}), 100),
    )
    const messages = await plane.connect({timeoutMs: 50, retry: false}).inbox({
      receiver: '2',
      maxMessages: 9,
      beforeMessageId: 50,
      waitMs: 30_000,
      excludeSenderAgentIds: ['7'],
      messageTypes: ['job_submit'],
      order: 'asc',
    })
    assert.deepEqual(messages, [{id: 3, payload: ''}])
    assert.deepEqual(plane.asked[0]?.body, {
      receiver_agent_id: '2',
      max_messages: 9,
      before_message_id: 50,
      wait_ms: 30_000,
      exclude_sender_agent_ids: ['7'],
      message_types: ['job_submit'],
      order: 'asc',
    })
  })

  it('returns the server time of a node list from the body or the Date header', async (t) => {
    const date = new Date(Date.UTC(2031, 0, 1)).toUTCString()
    const plane = await scriptedControlPlane(t, (response, _asked, count) =>
      reply(response, 200, {nodes: [], ...(count === 1 ? {server_time_unix_ms: 5} : {})}, {date}),
    )
    const client = plane.connect()
    const time = async () => (await client.listNodes()).server_time_unix_ms
    assert.deepEqual([await time(), await time()], [5, Date.UTC(2031, 0, 1)])
  })

  it('returns false if the subject of a removal does not exist', async (t) => {
    const plane = await scriptedControlPlane(t, (response, _asked, count) => reply(response, count <= 3 ? 204 : 404))
    const client = plane.connect()
    const outcomes = () =>
      Promise.all([
        client.leave('node-a'),
        client.ack({receiver: '2', message: 7}),
        client.releaseLease({lease: '17', claimer: 'node-a'}),
      ])
    assert.deepEqual(await outcomes(), [true, true, true])
    assert.deepEqual(await outcomes(), [false, false, false])
  })

  it('accepts a base URL with a path and a trailing slash', async (t) => {
    const plane = await scriptedControlPlane(t, (response) => reply(response, 200))
    await plane.connect({baseUrl: `${plane.url}/mesh/`}).health()
    assert.equal(plane.asked[0]?.route, 'GET /mesh/health')
  })
})
