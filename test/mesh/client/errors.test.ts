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

/** Error with which a promise is rejected. */
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

/** Error code and exit status of a command by HTTP status. */
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

describe('error response', () => {
  for (const [status, row, exit] of rows)
    it(`with status ${status} is reported as ${row}, exit status ${exit}, for every operation`, async (t) => {
      const plane = await scriptedControlPlane(t, (response) => problem(response, status, 'the_code'))
      const client = plane.connect({tokens: {mesh: 'mesh-token'}, retry: false})
      for (const operation of operationNames) {
        // For these operations, a missing subject is not an error.
        if (status === 404 && ['leave', 'a2a_ack', 'exec_lease_release'].includes(operation)) continue
        const error = await failure(everyOperation[operation].ask(client))
        assert.deepEqual(
          [error.kind, error.context, error.status, error.code],
          ['http_status', operation, status, 'the_code'],
        )
        assert.ok(error.isStatus(status) && error.isStatus(1, status) && !error.isStatus(418))
        const reported = SvcError.from(error)
        assert.deepEqual([reported.code, reported.exit], [row, exit])
        assert.equal(reported.message, `The control plane responded to ${operation} with the_code: it will not.`)
        assert.equal(error.message, reported.message)
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
    it(`with the code ${code} is reported with its code and detail`, async (t) => {
      const detail = 'Of this case: something.'
      const options = {tokens: {mesh: 'mesh-token'}}
      const error = await refused(t, (response) => problem(response, status, code, {detail}), options)
      const reported = SvcError.from(error)
      assert.deepEqual([reported.code, reported.exit, reported.message], [code, exit, detail])
      assert.equal(reported.hint, new SvcError(code, {} as never, {message: detail}).hint)
      assert.deepEqual([error.code, error.status, error.message], [code, status, detail])
      const silent = await refused(t, (response) => reply(response, status, {code}), options)
      assert.equal(silent.message, `The control plane responded to list_nodes with ${code}.`)
    })

  for (const [code, row, status] of [
    ['internal', 'mesh_unavailable', 500],
    ['unauthorized', 'mesh_denied', 401],
    ['port_in_use', 'mesh_unavailable', 503],
    ['toString', 'mesh_rejected', 400],
  ] as const)
    it(`with the code ${code} is reported by its status`, async (t) => {
      const options = {tokens: {mesh: 'mesh-token'}}
      const error = await refused(t, (response) => problem(response, status, code), options)
      assert.deepEqual([SvcError.from(error).code, error.code], [row, code])
    })

  for (const [operation, tokens, variables] of [
    ['list_nodes', {submitter: 'submitter-token'}, /^Copy SVC_MESH_WORKER_TOKEN or SVC_MESH_TOKEN /],
    ['a2a_deliver', {worker: 'worker-token'}, /^Copy SVC_MESH_SUBMITTER_TOKEN or SVC_MESH_TOKEN /],
    ['exec_lease_list', {worker: 'worker-token'}, /^Copy SVC_MESH_ADMIN_TOKEN or SVC_MESH_TOKEN /],
  ] as const)
    it(`names the missing token of ${operation}`, async (t) => {
      const plane = await scriptedControlPlane(t, (response) => problem(response, 401, 'unauthorized'))
      const {ask} = everyOperation[operation]
      const reported = SvcError.from(await failure(ask(plane.connect({tokens, retry: false}))))
      assert.deepEqual([reported.code, reported.exit], ['mesh_token_missing', Exit.conflict])
      assert.match(reported.hint, variables)
      const wrong = plane.connect({tokens: {mesh: 'wrong-token'}, retry: false})
      assert.equal(SvcError.from(await failure(ask(wrong))).code, 'mesh_denied')
    })

  for (const [what, body] of [
    ['returns route_unknown', '{"code": "route_unknown", "detail": "There is no route."}'],
    ['returns other JSON', '{"message": "Route GET:/v1/mesh/nodes not found", "statusCode": 404}'],
    ['returns HTML', '<html><h1>Not Found</h1></html>'],
  ] as const)
    it(`reports that there is no control plane if a server without its routes ${what}`, async (t) => {
      const plane = await scriptedControlPlane(t, (response) => response.writeHead(404).end(body))
      const client = plane.connect({retry: false})
      for (const operation of operationNames) {
        const error = await failure(everyOperation[operation].ask(client))
        const reported = SvcError.from(error)
        assert.deepEqual([reported.code, reported.exit, error.status], ['control_plane_missing', Exit.unavailable, 404])
        assert.ok(reported.message.startsWith(`The server at ${plane.url} is not a control plane: `), reported.message)
        assert.equal(error.isMissing, false)
      }
    })

  it('may have no body if the subject does not exist', async (t) => {
    const plane = await scriptedControlPlane(t, (response) => response.writeHead(404).end())
    const client = plane.connect({retry: false})
    assert.equal(await client.leave('node-a'), false)
    const reported = await failure(client.setQuarantine({node: 'node-a', quarantined: true}))
    assert.deepEqual([SvcError.from(reported).code, reported.isMissing], ['mesh_missing', true])
    assert.equal(SvcError.from(await failure(client.listNodes())).code, 'control_plane_missing')
  })

  for (const [what, body, code, sentence] of [
    ['problem details', '{"code": "held", "detail": "Another node has it."}', 'held', 'held: Another node has it.'],
    ['other JSON', '{"error": "no such node"}', undefined, 'status 409: no such node.'],
    ['only a title', '{"title": "Conflict"}', undefined, 'status 409: Conflict.'],
    ['a line of text', 'mesh: no such node\nat line 7\n', undefined, 'status 409: mesh: no such node.'],
    ['JSON without a message', '[]', undefined, 'status 409.'],
    ['an empty body', '', undefined, 'status 409.'],
  ] as const)
    it(`is parsed if it contains ${what}`, async (t) => {
      const error = await refused(t, (response) => response.writeHead(409).end(body))
      assert.equal(error.code, code)
      assert.equal(error.message, `The control plane responded to list_nodes with ${sentence}`)
      assert.equal(error.bodySnippet, body.trim() || undefined)
    })

  for (const [what, end] of [
    ['is incomplete', (response) => setTimeout(() => response.destroy(), 20)],
    ['does not end', () => undefined],
  ] as [string, (response: ServerResponse) => unknown][])
    it(`is reported by its status even if its body ${what}`, async (t) => {
      const error = await refused(
        t,
        (response) => {
          response.writeHead(409, {'content-length': '1000'})
          response.write('no such node', () => end(response))
        },
        {timeoutMs: 300},
      )
      assert.deepEqual([error.kind, error.status, error.isTransient], ['http_status', 409, false])
      assert.equal(error.message, 'The control plane responded to list_nodes with status 409: no such node.')
    })

  it('is quoted up to a maximum length', async (t) => {
    const error = await refused(t, (response) => response.writeHead(500).end(`  ${'x'.repeat(1 << 20)}`))
    assert.equal(error.bodySnippet, 'x'.repeat(240))
    assert.ok(error.message.length < 300)
  })

  it('reports Retry-After', async (t) => {
    const error = await refused(t, (response) => problem(response, 429, 'inbox_full', {headers: {'retry-after': '7'}}))
    assert.equal(error.retryAfterMs, 7000)
  })

  for (const status of [301, 302, 307, 308])
    it(`includes redirects with ${status}, which are not followed`, async (t) => {
      const elsewhere = await scriptedControlPlane(t, (response) => reply(response, 200, {nodes: []}))
      const error = await refused(t, (response) => reply(response, status, {}, {location: `${elsewhere.url}/`}))
      assert.deepEqual([error.kind, error.status, error.isTransient], ['http_status', status, false])
      assert.match(error.message, /redirects are not followed/)
      assert.deepEqual(elsewhere.asked, [])
    })
})

describe('invalid response', () => {
  for (const [what, body, reason] of [
    ['null', 'null', /it lists no nodes/],
    ['another document', '{"rows": []}', /it lists no nodes/],
    ['empty', '', /it lists no nodes/],
  ] as const)
    it(`is reported if it is ${what}`, async (t) => {
      const error = await refused(t, (response) => response.end(body))
      assert.deepEqual([error.kind, error.status, error.isTransient], ['json', 200, false])
      assert.match(error.message, reason)
      assert.equal(SvcError.from(error).code, 'document_unparsable')
    })

  for (const operation of operationNames.filter((name) => everyOperation[name].answer !== undefined))
    it(`is reported if ${operation} returns an empty object`, async (t) => {
      const plane = await scriptedControlPlane(t, (response) => reply(response, 200, {}))
      const error = await failure(everyOperation[operation].ask(plane.connect()))
      assert.deepEqual([error.kind, error.context, plane.asked.length], ['json', operation, 1])
    })

  it('that is not JSON is reported as a missing control plane', async (t) => {
    const error = await refused(t, (response) => response.end('<html>'))
    assert.deepEqual([error.kind, error.status, error.isTransient], ['json', 200, false])
    assert.match(
      error.message,
      /^The server at http:\/\/127\.0\.0\.1:\d+ is not a control plane: .*is not valid JSON\.$/,
    )
    assert.deepEqual(
      [SvcError.from(error).code, SvcError.from(error).exit],
      ['control_plane_missing', Exit.unavailable],
    )
  })

  it('nodes without an id are dropped', async (t) => {
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
    it(`is reported if ${operation} lists ${JSON.stringify(Object.values(answer))}`, async (t) => {
      const plane = await scriptedControlPlane(t, (response) => reply(response, 200, answer))
      const error = await failure(everyOperation[operation].ask(plane.connect()))
      assert.deepEqual([error.kind, SvcError.from(error).code], ['json', 'document_unparsable'])
      assert.match(error.message, reason)
    })

  it('that is too long is refused', async (t) => {
    const script = (response: ServerResponse) => response.end(' '.repeat(100_001))
    const error = await refused(t, script, {maxAnswerBytes: 100_000, retry: true})
    assert.deepEqual([error.kind, error.isTransient], ['io', false])
    assert.equal(SvcError.from(error).code, 'response_too_large')
  })

  it('that is incomplete is reported', async (t) => {
    const error = await refused(t, (response) => {
      response.writeHead(200, {'content-length': '1000'})
      response.write('{"nodes":')
      setTimeout(() => response.destroy(), 20)
    })
    assert.deepEqual([error.kind, error.status, error.isTransient], ['io', 200, true])
    assert.deepEqual([SvcError.from(error).code, SvcError.from(error).exit], ['unreachable', Exit.unavailable])
  })
})

describe('missing response', () => {
  it('is reported if nothing listens at the address', async () => {
    const client = createMeshClient({baseUrl: 'http://127.0.0.1:1', tokens: {}, retry: false})
    const error = await failure(client.listNodes())
    assert.deepEqual([error.kind, error.status, error.isTransient], ['transport', undefined, true])
    assert.equal(error.message, 'Cannot reach http://127.0.0.1:1/v1/mesh/nodes: connection refused.')
    assert.equal(SvcError.from(error).exit, Exit.unavailable)
  })

  it('is reported if the server closes the connection', async (t) => {
    const error = await refused(t, (response) => response.destroy())
    assert.deepEqual([error.kind, error.isTransient, SvcError.from(error).code], ['transport', true, 'unreachable'])
  })

  it('is reported as a timeout', async (t) => {
    const error = await refused(t, () => {}, {timeoutMs: 100})
    assert.match(error.message, /\/v1\/mesh\/nodes did not respond within 100 ms\.$/)
    assert.deepEqual([SvcError.from(error).code, SvcError.from(error).exit], ['timeout', Exit.unavailable])
  })

  it('is reported without a retry if the server does not speak HTTP', async (t) => {
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

describe('secrets', () => {
  const tokens: MeshTokens = {
    mesh: 'mesh-"canary"-1',
    worker: 'worker-canary-2',
    submitter: 'submitter-canary-3',
    admin: 'admin-canary-4',
    jwtHmacSecret: 'secret-canary-5 which is long enough',
  }
  const secrets = Object.values(tokens)

  /** Everything that could be logged of an error. */
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
      it(`are removed from errors if a ${status} response repeats them in ${what}`, async (t) => {
        const plane = await scriptedControlPlane(t, (response) => response.writeHead(status).end(body))
        for (const operation of ['list_nodes', 'a2a_deliver', 'exec_lease_list'] as const) {
          const error = await failure(everyOperation[operation].ask(plane.connect({tokens, retry: false})))
          assert.doesNotMatch(written(error), /canary|cana$|can\b/)
        }
      })

  it('that are signed per request or exchanged are removed from errors', async (t) => {
    const seen: string[] = []
    const plane = await scriptedControlPlane(t, (response, {headers, body}) => {
      const reported = [headers.authorization, Object(body).bootstrap_token].join(' ')
      seen.push(String(headers.authorization).replace('Bearer ', ''))
      problem(response, 401, 'unauthorized', {detail: reported})
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

  it('shorter than six characters are not redacted', () => {
    const {redact} = createMeshClient({
      baseUrl: 'http://127.0.0.1:1',
      tokens: {mesh: 'e', worker: 'node1', admin: 'six-66'},
    })
    assert.equal(redact('the node1 has six-66'), 'the node1 has [redacted]')
  })

  it('can be redacted from any text', () => {
    const {redact} = createMeshClient({baseUrl: 'http://127.0.0.1:1', tokens})
    assert.equal(redact(`a ${secrets.join(' b ')} c`).includes('canary'), false)
    assert.equal(redact(JSON.stringify(secrets)).includes('canary'), false)
    assert.equal(createMeshClient({baseUrl: 'http://127.0.0.1:1', tokens: {}}).redact('nothing'), 'nothing')
  })
})
