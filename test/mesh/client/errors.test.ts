import assert from 'node:assert/strict'
import type {ServerResponse} from 'node:http'
import {createServer} from 'node:net'
import {describe, it} from 'node:test'
import {inspect} from 'node:util'
import {Exit, SvcError} from '../../../src/errors/index.js'
import {createMeshClient, MeshHttpError, type MeshTokens} from '../../../src/mesh/index.js'
import {everyOperation, operationNames} from './support/every-operation.js'
import {problem, reply, type Script, scriptedControlPlane} from './support/scripted-control-plane.js'

type Test = {after(work: () => unknown): void}

/** What a promise fails with. */
async function failure(work: Promise<unknown>): Promise<MeshHttpError> {
  const thrown = await work.then(
    () => assert.fail('it should have failed'),
    (error: unknown) => error,
  )
  assert.ok(thrown instanceof MeshHttpError, String(thrown))
  return thrown
}

async function refused(t: Test, script: Script, options = {}): Promise<MeshHttpError> {
  const plane = await scriptedControlPlane(t, script)
  return failure(plane.connect({retry: false, ...options}).listNodes())
}

/** By status: what a user is told, and with which exit status a command ends. */
const rows = [
  [400, 'mesh_rejected', Exit.usage],
  [401, 'mesh_denied', Exit.conflict],
  [403, 'mesh_denied', Exit.conflict],
  [404, 'mesh_missing', Exit.notFound],
  [405, 'mesh_rejected', Exit.usage],
  [408, 'mesh_unavailable', Exit.unavailable],
  [409, 'mesh_denied', Exit.conflict],
  [410, 'mesh_missing', Exit.notFound],
  [413, 'mesh_rejected', Exit.usage],
  [415, 'mesh_rejected', Exit.usage],
  [422, 'mesh_rejected', Exit.usage],
  [429, 'mesh_unavailable', Exit.unavailable],
  [500, 'mesh_unavailable', Exit.unavailable],
  [502, 'mesh_unavailable', Exit.unavailable],
  [503, 'mesh_unavailable', Exit.unavailable],
  [504, 'mesh_unavailable', Exit.unavailable],
] as const

describe('a refusal of the control plane', () => {
  for (const [status, row, exit] of rows)
    it(`with ${status} is ${row} to a user, and ends a command with ${exit}, whatever was asked for`, async (t) => {
      const plane = await scriptedControlPlane(t, (response) => problem(response, status, 'the_code'))
      const client = plane.connect({tokens: {mesh: 'mesh-token'}, retry: false})
      for (const operation of operationNames) {
        // What is gone already is no fault there.
        if (status === 404 && ['leave', 'a2a_ack', 'exec_lease_release'].includes(operation)) continue
        const error = await failure(everyOperation[operation].ask(client))
        assert.deepEqual(
          [error.kind, error.context, error.status, error.code],
          ['http_status', operation, status, 'the_code'],
        )
        assert.ok(error.isStatus(status) && error.isStatus(1, status) && !error.isStatus(418))
        const told = SvcError.from(error)
        assert.deepEqual([told.code, told.exit], [row, exit])
        assert.equal(told.message, `The control plane answered ${operation} with the_code: it will not.`)
        assert.equal(error.message, told.message)
      }
    })

  for (const [status, code, exit] of [
    [400, 'missing_field', Exit.usage],
    [401, 'token_expired', Exit.conflict],
    [403, 'node_quarantined', Exit.conflict],
    [404, 'node_not_found', Exit.notFound],
    [409, 'lease_held', Exit.conflict],
    [410, 'bootstrap_consumed', Exit.conflict],
    [422, 'idempotency_key_reused', Exit.conflict],
    [429, 'inbox_full', Exit.unavailable],
    [503, 'store_unavailable', Exit.unavailable],
  ] as const)
    it(`is ${code} to a user where the control plane says so, in its own words`, async (t) => {
      const detail = 'Of this case: something.'
      const options = {tokens: {mesh: 'mesh-token'}}
      const error = await refused(t, (response) => problem(response, status, code, {detail}), options)
      const told = SvcError.from(error)
      assert.deepEqual([told.code, told.exit, told.message], [code, exit, detail])
      assert.equal(told.hint, new SvcError(code, {} as never, {message: detail}).hint)
      assert.deepEqual([error.code, error.status, error.message], [code, status, detail])
      const silent = await refused(t, (response) => reply(response, status, {code}), options)
      assert.equal(silent.message, `The control plane answered list_nodes with ${code}.`)
    })

  for (const [code, row, status] of [
    ['internal', 'mesh_unavailable', 500],
    ['unauthorized', 'mesh_denied', 401],
    ['port_in_use', 'mesh_unavailable', 503],
    ['toString', 'mesh_rejected', 400],
  ] as const)
    it(`is the row of its status where it is ${code}, which tells a user of it nothing`, async (t) => {
      const options = {tokens: {mesh: 'mesh-token'}}
      const error = await refused(t, (response) => problem(response, status, code), options)
      assert.deepEqual([SvcError.from(error).code, error.code], [row, code])
    })

  for (const [operation, tokens, variables] of [
    ['list_nodes', {submitter: 'submitter-token'}, /^Set SVC_MESH_WORKER_TOKEN or SVC_MESH_TOKEN /],
    ['a2a_deliver', {worker: 'worker-token'}, /^Set SVC_MESH_SUBMITTER_TOKEN or SVC_MESH_TOKEN /],
    ['exec_lease_list', {worker: 'worker-token'}, /^Set SVC_MESH_ADMIN_TOKEN or SVC_MESH_TOKEN /],
  ] as const)
    it(`names the token that is not there where ${operation} was asked for without one`, async (t) => {
      const plane = await scriptedControlPlane(t, (response) => problem(response, 401, 'unauthorized'))
      const {ask} = everyOperation[operation]
      const told = SvcError.from(await failure(ask(plane.connect({tokens, retry: false}))))
      assert.deepEqual([told.code, told.exit], ['mesh_token_missing', Exit.conflict])
      assert.match(told.hint, variables)
      const wrong = plane.connect({tokens: {mesh: 'wrong-token'}, retry: false})
      assert.equal(SvcError.from(await failure(ask(wrong))).code, 'mesh_denied')
    })

  for (const [what, body] of [
    ['says so', '{"code": "route_unknown", "detail": "There is no route."}'],
    ['has another kind of error', '{"message": "Route GET:/v1/mesh/nodes not found", "statusCode": 404}'],
    ['shows a page', '<html><h1>Not Found</h1></html>'],
  ] as const)
    it(`tells that no control plane is there where a server without its routes ${what}`, async (t) => {
      const plane = await scriptedControlPlane(t, (response) => response.writeHead(404).end(body))
      const client = plane.connect({retry: false})
      for (const operation of operationNames) {
        const error = await failure(everyOperation[operation].ask(client))
        const told = SvcError.from(error)
        assert.deepEqual([told.code, told.exit, error.status], ['control_plane_missing', Exit.unavailable, 404])
        assert.ok(told.message.startsWith(`No control plane at ${plane.url}: `), told.message)
        assert.equal(error.isMissing, false)
      }
    })

  it('may be silent of a thing that is not there', async (t) => {
    const plane = await scriptedControlPlane(t, (response) => response.writeHead(404).end())
    const client = plane.connect({retry: false})
    assert.equal(await client.leave('node-a'), false)
    const told = await failure(client.setQuarantine({node: 'node-a', quarantined: true}))
    assert.deepEqual([SvcError.from(told).code, told.isMissing], ['mesh_missing', true])
    assert.equal(SvcError.from(await failure(client.listNodes())).code, 'control_plane_missing')
  })

  for (const [what, body, code, sentence] of [
    ['a problem', '{"code": "held", "detail": "Another node has it."}', 'held', 'held: Another node has it.'],
    ['other JSON', '{"error": "no such node"}', undefined, '409: no such node.'],
    ['a title alone', '{"title": "Conflict"}', undefined, '409: Conflict.'],
    ['a line of text', 'mesh: no such node\nat line 7\n', undefined, '409: mesh: no such node.'],
    ['JSON that says nothing', '[]', undefined, '409.'],
    ['nothing', '', undefined, '409.'],
  ] as const)
    it(`is understood where it is ${what}`, async (t) => {
      const error = await refused(t, (response) => response.writeHead(409).end(body))
      assert.equal(error.code, code)
      assert.equal(error.message, `The control plane answered list_nodes with ${sentence}`)
      assert.equal(error.bodySnippet, body.trim() || undefined)
    })

  for (const [what, end] of [
    ['breaks off', (response) => setTimeout(() => response.destroy(), 20)],
    ['does not end', () => undefined],
  ] as [string, (response: ServerResponse) => unknown][])
    it(`is one by its status, though its text ${what}`, async (t) => {
      const error = await refused(
        t,
        (response) => {
          response.writeHead(409, {'content-length': '1000'})
          response.write('no such node', () => end(response))
        },
        {timeoutMs: 300},
      )
      assert.deepEqual([error.kind, error.status, error.isTransient], ['http_status', 409, false])
      assert.equal(error.message, 'The control plane answered list_nodes with 409: no such node.')
    })

  it('is quoted no further than its beginning, however long it is', async (t) => {
    const error = await refused(t, (response) => response.writeHead(500).end(`  ${'x'.repeat(1 << 20)}`))
    assert.equal(error.bodySnippet, 'x'.repeat(240))
    assert.ok(error.message.length < 300)
  })

  it('says how long to wait', async (t) => {
    const error = await refused(t, (response) => problem(response, 429, 'inbox_full', {headers: {'retry-after': '7'}}))
    assert.equal(error.retryAfterMs, 7000)
  })

  for (const status of [301, 302, 307, 308])
    it(`is also a redirect with ${status}, which is not followed: the token is for one address`, async (t) => {
      const elsewhere = await scriptedControlPlane(t, (response) => reply(response, 200, {nodes: []}))
      const error = await refused(t, (response) => reply(response, status, {}, {location: `${elsewhere.url}/`}))
      assert.deepEqual([error.kind, error.status, error.isTransient], ['http_status', status, false])
      assert.match(error.message, /a redirect is not followed/)
      assert.deepEqual(elsewhere.asked, [])
    })
})

describe('an answer that is of no use', () => {
  for (const [what, body, reason] of [
    ['null', 'null', /it lists no nodes/],
    ['another document', '{"rows": []}', /it lists no nodes/],
    ['nothing', '', /it lists no nodes/],
  ] as const)
    it(`is told to be so where it is ${what}`, async (t) => {
      const error = await refused(t, (response) => response.end(body))
      assert.deepEqual([error.kind, error.status, error.isTransient], ['json', 200, false])
      assert.match(error.message, reason)
      assert.equal(SvcError.from(error).code, 'document_unparsable')
    })

  for (const operation of operationNames.filter((name) => everyOperation[name].answer !== undefined))
    it(`is told to be so where ${operation} is answered with an empty object`, async (t) => {
      const plane = await scriptedControlPlane(t, (response) => reply(response, 200, {}))
      const error = await failure(everyOperation[operation].ask(plane.connect()))
      assert.deepEqual([error.kind, error.context, plane.asked.length], ['json', operation, 1])
    })

  it('is one of no control plane where it is no JSON', async (t) => {
    const error = await refused(t, (response) => response.end('<html>'))
    assert.deepEqual([error.kind, error.status, error.isTransient], ['json', 200, false])
    assert.match(error.message, /^No control plane at http:\/\/127\.0\.0\.1:\d+: .*is not valid JSON\.$/)
    assert.deepEqual(
      [SvcError.from(error).code, SvcError.from(error).exit],
      ['control_plane_missing', Exit.unavailable],
    )
  })

  it('lists only nodes that have an id', async (t) => {
    const nodes = [null, 'node', {}, {id: 5}, {id: 'node-a'}]
    const plane = await scriptedControlPlane(t, (response) => reply(response, 200, {schema_version: 1, nodes}))
    assert.deepEqual((await plane.connect().listNodes()).nodes, [{id: 'node-a'}])
  })

  const lease = {lease_id: '1', scope_key: 'k', holder_node_id: 'n', expires_unix_ms: 1}
  const message = {id: 1, sender_agent_id: '1', receiver_agent_id: '2', message_type: 't', payload: 'text'}
  for (const [operation, answer, reason] of [
    ['a2a_inbox', {messages: [message, null]}, /one of its messages has no id\./],
    ['a2a_inbox', {messages: [{...message, payload: null}]}, /one of its messages has no payload\./],
    ['exec_lease_list', {leases: [lease, 'x']}, /one of its leases has no lease_id\./],
    ['exec_lease_list', {leases: [{...lease, expires_unix_ms: '1'}]}, /one of its leases has no expires_unix_ms\./],
  ] as const)
    it(`is told to be so where ${operation} lists ${JSON.stringify(Object.values(answer))}`, async (t) => {
      const plane = await scriptedControlPlane(t, (response) => reply(response, 200, answer))
      const error = await failure(everyOperation[operation].ask(plane.connect()))
      assert.deepEqual([error.kind, SvcError.from(error).code], ['json', 'document_unparsable'])
      assert.match(error.message, reason)
    })

  it('is not read beyond a limit', async (t) => {
    const script = (response: ServerResponse) => response.end(' '.repeat(100_001))
    const error = await refused(t, script, {maxAnswerBytes: 100_000, retry: true})
    assert.deepEqual([error.kind, error.isTransient], ['io', false])
    assert.equal(SvcError.from(error).code, 'response_too_large')
  })

  it('may break off', async (t) => {
    const error = await refused(t, (response) => {
      response.writeHead(200, {'content-length': '1000'})
      response.write('{"nodes":')
      setTimeout(() => response.destroy(), 20)
    })
    assert.deepEqual([error.kind, error.status, error.isTransient], ['io', 200, true])
    assert.deepEqual([SvcError.from(error).code, SvcError.from(error).exit], ['unreachable', Exit.unavailable])
  })
})

describe('a control plane that does not answer', () => {
  it('may not be there', async () => {
    const client = createMeshClient({baseUrl: 'http://127.0.0.1:1', tokens: {}, retry: false})
    const error = await failure(client.listNodes())
    assert.deepEqual([error.kind, error.status, error.isTransient], ['transport', undefined, true])
    assert.equal(error.message, 'Cannot reach http://127.0.0.1:1/v1/mesh/nodes: nothing listens there.')
    assert.equal(SvcError.from(error).exit, Exit.unavailable)
  })

  it('may hang up', async (t) => {
    const error = await refused(t, (response) => response.destroy())
    assert.deepEqual([error.kind, error.isTransient, SvcError.from(error).code], ['transport', true, 'unreachable'])
  })

  it('may be silent', async (t) => {
    const error = await refused(t, () => {}, {timeoutMs: 100})
    assert.match(error.message, /\/v1\/mesh\/nodes did not answer within 100 ms\.$/)
    assert.deepEqual([SvcError.from(error).code, SvcError.from(error).exit], ['timeout', Exit.unavailable])
  })

  it('may be no server of HTTP, and then is asked once', async (t) => {
    let count = 0
    const server = createServer((socket) => {
      count++
      socket.on('error', () => undefined)
      socket.end('SSH-2.0-OpenSSH\r\n')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    const {port} = server.address() as {port: number}
    const client = createMeshClient({baseUrl: `http://127.0.0.1:${port}`, tokens: {}})
    const error = await failure(client.listNodes())
    assert.deepEqual([error.kind, error.isTransient, count], ['transport', false, 1])
  })
})

describe('a secret', () => {
  const tokens: MeshTokens = {
    mesh: 'mesh-"canary"-1',
    worker: 'worker-canary-2',
    submitter: 'submitter-canary-3',
    admin: 'admin-canary-4',
    jwtHmacSecret: 'secret-canary-5 which is long enough',
  }
  const secrets = Object.values(tokens)

  /** What could be written down of an error. */
  const written = (error: MeshHttpError) =>
    [
      inspect(error, {depth: 9}),
      error.message,
      error.stack,
      JSON.stringify(error),
      JSON.stringify(SvcError.from(error).toRecord()),
    ].join()

  for (const [what, body] of [
    ['a problem', JSON.stringify({code: 'mesh-"canary"-1', detail: `not ${secrets.join(', ')}`})],
    ['text', `not ${secrets.join(', ')}`],
    ['text in which one is cut', `${'x'.repeat(190)}worker-canary-2${'x'.repeat(30)}admin-canary-4`],
    ['a document', JSON.stringify({rows: secrets})],
  ] as const)
    for (const status of [200, 302, 401, 503])
      it(`is in no error, though an answer with ${status} repeats it in ${what}`, async (t) => {
        const plane = await scriptedControlPlane(t, (response) => response.writeHead(status).end(body))
        for (const operation of ['list_nodes', 'a2a_deliver', 'exec_lease_list'] as const) {
          const error = await failure(everyOperation[operation].ask(plane.connect({tokens, retry: false})))
          assert.doesNotMatch(written(error), /canary|cana$|can\b/)
        }
      })

  it('is in no error where it was made for one request, or is exchanged', async (t) => {
    const seen: string[] = []
    const plane = await scriptedControlPlane(t, (response, {headers, body}) => {
      const told = [headers.authorization, Object(body).bootstrap_token].join(' ')
      seen.push(String(headers.authorization).replace('Bearer ', ''))
      problem(response, 401, 'unauthorized', {detail: told})
    })
    const client = plane.connect({tokens: {jwtHmacSecret: tokens.jwtHmacSecret}, retry: false})
    for (const error of [
      await failure(client.listNodes()),
      await failure(client.exchangeBootstrap('one-shot-canary')),
    ]) {
      const [made = ''] = seen.slice(0, 1)
      assert.doesNotMatch(written(error), /canary/)
      assert.ok(made.length > 100 && !written(error).includes(made.slice(0, 40)))
    }
  })

  it('is nothing shorter than six characters: that would take away ordinary words', () => {
    const {redact} = createMeshClient({
      baseUrl: 'http://127.0.0.1:1',
      tokens: {mesh: 'e', worker: 'node1', admin: 'six-66'},
    })
    assert.equal(redact('the node1 has six-66'), 'the node1 has [redacted]')
  })

  it('can be taken out of any text with the client that has it', () => {
    const {redact} = createMeshClient({baseUrl: 'http://127.0.0.1:1', tokens})
    assert.equal(redact(`a ${secrets.join(' b ')} c`).includes('canary'), false)
    assert.equal(redact(JSON.stringify(secrets)).includes('canary'), false)
    assert.equal(createMeshClient({baseUrl: 'http://127.0.0.1:1', tokens: {}}).redact('nothing'), 'nothing')
  })
})
