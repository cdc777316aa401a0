import assert from 'node:assert/strict'
import type {ServerResponse} from 'node:http'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {compileSchema} from '../../src/contracts/index.js'
import {type ErrorCode, SvcError} from '../../src/errors/index.js'
import {createCall, type OperationContext, operationNamed, type Surface} from '../../src/operations/index.js'
import * as modules from '../../src/orchestrator/index.js'
import {problem, reply, type Script, scriptedControlPlane} from '../mesh/client/support/scripted-control-plane.js'
import {startMeshServer} from '../support/mesh-server.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {type Agents, giveSession, openWithAgents} from './support/agents.js'

type Test = {after(work: () => unknown): void}
type Answer = Record<string, unknown>

interface Listing extends Answer {
  messages: Answer[]
}

/**
 * Calls operations as a surface does, and asserts that the results match their schemas. The default home folder is
 * inside the workspace.
 */
function caller(orchestrator: Agents, env: Readonly<Record<string, string>> = {}, signal?: AbortSignal) {
  const surface: Surface = 'mcp'
  const notices: string[] = []
  const context: OperationContext = {
    modules,
    orchestrator,
    surface,
    version: '0.0.0',
    sources: {env: {HOME: join(orchestrator.root, 'home'), ...env}},
    speech: undefined,
    signal: signal ?? new AbortController().signal,
    report: () => {},
    notice: (text) => notices.push(text),
    ask: undefined,
  }
  const call = async <T = Answer>(name: string, input: object): Promise<T> => {
    const operation = operationNamed(name)
    const answer = await createCall(operation, name).perform(input, context)
    const check = await compileSchema(operation.output, `${name} output`)
    assert.deepEqual(check(answer), [])
    return answer as T
  }
  return {call, notices}
}

const openAt = (t: Test, url: string, env: Readonly<Record<string, string>> = {}) =>
  openWithAgents(t, {env: {SVC_ORCHESTRATOR_MESH_CONTROL_URL: url, ...env}})

/** A workspace with a control plane that returns scripted replies. */
async function scripted(t: Test, script: Script, env: Readonly<Record<string, string>> = {}) {
  const plane = await scriptedControlPlane(t, script)
  const orchestrator = await openAt(t, plane.url, env)
  return {plane, orchestrator, ...caller(orchestrator, env)}
}

const hello = {sender_id: 'anna', receiver_id: 77, msg_type: 'help_request', payload: 'hello', route: 'mesh'}

const stored = (id: number, more: object = {}) => ({
  id,
  sender_agent_id: '9',
  receiver_agent_id: '2',
  message_type: 'help_request',
  payload: `p${id}`,
  priority: 128,
  created_unix_ms: 1_764_000_000_000 + id,
  acknowledged: false,
  delivery_attempts: 0,
  ...more,
})

/** The published error of a failed call. */
async function refusal(work: Promise<unknown>, code: ErrorCode): Promise<SvcError> {
  const error = await work.then(
    () => assert.fail(`${code} was expected`),
    (thrown: unknown) => SvcError.from(thrown),
  )
  assert.equal(error.code, code, error.stack)
  return error
}

const accepted = (response: ServerResponse) => reply(response, 200, {accepted: true, message_id: 1042})

describe('a message to another machine', () => {
  it('goes through the control plane and reports the result', async (t) => {
    const {plane, call} = await scripted(t, accepted)
    const sent = await call('a2a_send', {...hello, priority: 'high', idempotency_key: 'k', correlation_id: 'c'})
    assert.deepEqual(
      plane.asked.map(({route, body}) => [route, body]),
      [
        [
          'POST /v1/mesh/a2a/deliver',
          {
            sender_agent_id: '1',
            receiver_agent_id: '77',
            message_type: 'help_request',
            payload: 'hello',
            priority: 192,
            idempotency_key: 'k',
          },
        ],
      ],
    )
    assert.deepEqual(sent, {
      message_id: 1042,
      display_id: 'mesh:1042',
      db_message_uuid: null,
      sender: 1,
      receiver: 77,
      msg_type: 'help_request',
      route: 'mesh',
      delivery_plane: 'remote_mesh',
      route_ok: true,
      duplicate: false,
      idempotency_key: 'k',
      correlation_id: 'c',
      tenant_id: null,
      relay_attempted: true,
      relay_ok: true,
      dropped_messages: 0,
      sender_identity_binding: 'unbound',
      binding_advisory: sent.binding_advisory,
    })
  })

  it('has the chosen key, the correlation id, or a content key for one minute', async (t) => {
    const {plane, orchestrator, call} = await scripted(t, accepted)
    const key = async (more: object = {}) => (await call('a2a_send', {...hello, ...more})).idempotency_key
    assert.equal(await key({correlation_id: 'c', idempotency_key: 'k'}), 'k')
    assert.match(String(await key({correlation_id: 'c'})), /^[0-9a-f]{16}-c$/)
    assert.match(String(await key({correlation_id: 'c'.repeat(512)})), /^[0-9a-f]{16}-[0-9a-f]{16}$/)
    const derived = String(await key())
    assert.match(derived, /^mcp-a2a-1-77-[0-9a-f]{16}-[0-9a-f]{16}-\d+$/)
    assert.equal(await key(), derived)
    assert.notEqual(await key({payload: 'other'}), derived)
    orchestrator.clock.ms += 60_000
    assert.notEqual(await key(), derived)
    assert.deepEqual(Object(plane.asked[3]?.body).idempotency_key, derived)
  })

  it('has a content key unique to its machine and workspace', async (t) => {
    const plane = await scriptedControlPlane(t, accepted)
    const workspaces = [await openAt(t, plane.url), await openAt(t, plane.url)]
    const keys = new Set<unknown>()
    for (const HOME of [await temporaryFolder(t), await temporaryFolder(t)])
      for (const workspace of workspaces)
        for (const more of [{}, {correlation_id: 'c'}]) {
          const {call} = caller(workspace, {HOME})
          const key = async () => (await call('a2a_send', {...hello, ...more})).idempotency_key
          const first = await key()
          assert.equal(await key(), first, 'sent again it is the same message')
          keys.add(first)
        }
    assert.equal(keys.size, 8)
  })

  it('can be a duplicate', async (t) => {
    const {call} = await scripted(t, (response) =>
      reply(response, 200, {accepted: true, message_id: 7, duplicate: true}),
    )
    assert.equal((await call('a2a_send', hello)).duplicate, true)
  })

  it('goes to an agent number, or to a named agent of this workspace', async (t) => {
    const {call} = await scripted(t, accepted)
    const receiver = async (receiver_id: string | number) => (await call('a2a_send', {...hello, receiver_id})).receiver
    assert.deepEqual([await receiver('A-77'), await receiver(' 78 '), await receiver('bert')], [77, 78, 2])
    await refusal(call('a2a_send', {...hello, receiver_id: 'nobody'}), 'agent_not_found')
    await refusal(call('a2a_send', {...hello, sender_id: 78}), 'agent_not_found')
  })

  it('is rejected with unsupported members or a foreign sender', async (t) => {
    const {plane, orchestrator, call} = await scripted(t, accepted)
    for (const more of [{thread_id: 't'}, {tenant_id: 't'}, {payload: 'x'.repeat(131_073)}])
      await refusal(call('a2a_send', {...hello, ...more}), 'message_invalid')
    giveSession(orchestrator, 'anna', 's-1')
    await refusal(call('a2a_send', hello), 'agent_session_mismatch')
    assert.deepEqual(plane.asked, [])
    assert.equal((await call('a2a_send', {...hello, sender_session_id: 's-1'})).sender_identity_binding, 'verified')
  })

  it('uses the token that may deliver', async (t) => {
    const secrets = {SVC_MESH_WORKER_TOKEN: 'worker-token', SVC_MESH_SUBMITTER_TOKEN: 'submitter-token'}
    const {plane, call} = await scripted(
      t,
      (response, {route}) => (route.endsWith('/deliver') ? accepted(response) : reply(response, 200, {messages: []})),
      secrets,
    )
    await call('a2a_send', hello)
    await call('a2a_inbox', {agent_id: 'bert', source: 'mesh'})
    assert.deepEqual(
      plane.asked.map(({headers}) => headers.authorization),
      ['Bearer submitter-token', 'Bearer worker-token'],
    )
  })

  for (const [status, problemCode, code, exit] of [
    [422, 'idempotency_key_reused', 'idempotency_key_reused', 4],
    [403, 'role_forbidden', 'role_forbidden', 4],
    [500, 'internal', 'mesh_unavailable', 5],
  ] as const)
    it(`fails with ${code} if the control plane returns ${problemCode}`, async (t) => {
      const {call} = await scripted(t, (response) => problem(response, status, problemCode))
      assert.equal((await refusal(call('a2a_send', hello), code)).exit, exit)
    })

  it('is rejected, like its inbox, without a mesh', async (t) => {
    const {call} = caller(await openWithAgents(t))
    for (const [name, input] of [
      ['a2a_send', hello],
      ['a2a_inbox', {agent_id: 'bert', source: 'mesh'}],
      ['a2a_ack', {agent_id: 'bert', message_id: 'mesh:1'}],
      ['a2a_ack', {agent_id: 'bert', message_id: 1, route: 'mesh'}],
      ['a2a_history', {source: 'mesh'}],
    ] as const) {
      const {exit, status, message} = await refusal(call(name, input), 'mesh_not_configured')
      assert.deepEqual([exit, status], [5, 503])
      assert.match(message, /No mesh is configured/)
    }
  })
})

describe('an inbox on the mesh', () => {
  it('is read newest first, with local types and priorities', async (t) => {
    const claimed = {lease_holder_node_id: 'node-a', lease_expires_unix_ms: 5, delivery_attempts: 2}
    const onMesh = [
      stored(12, {message_type: 'remote_task_result', priority: 255, ...claimed}),
      stored(11, {message_type: 'gossip', priority: 0}),
      stored(10, {priority: 170}),
    ]
    const {plane, call} = await scripted(t, (response) => reply(response, 200, {messages: onMesh}))
    const inbox = await call<Listing>('a2a_inbox', {agent_id: 'bert', source: ' Mesh ', max_messages: 10})
    assert.deepEqual(plane.asked[0]?.body, {receiver_agent_id: '2', max_messages: 10})
    const {messages, ...rest} = inbox
    assert.deepEqual(rest, {
      agent_id: 2,
      source: 'mesh',
      delivery_planes: ['remote_mesh'],
      routes: ['mesh'],
      unread_count: 3,
      remote_attempted: true,
      remote_ok: true,
      dropped_messages: 0,
      suppressed_count: 0,
      focus_depth_filter_active: false,
    })
    assert.deepEqual(messages[0], {
      id: 12,
      display_id: 'mesh:12',
      sender: 9,
      receiver: 2,
      msg_type: 'completion_notice',
      payload: 'p12',
      priority: 'critical',
      timestamp_ms: 1_764_000_000_012,
      acknowledged: false,
      route: 'mesh',
      delivery_plane: 'remote_mesh',
      delivery_attempts: 2,
      claim_owner: 'node-a',
      claim_until_ms: 5,
    })
    assert.deepEqual(
      messages.map(({id, msg_type, priority}) => [id, msg_type, priority]),
      [
        [12, 'completion_notice', 'critical'],
        [11, 'free_form', 'low'],
        [10, 'help_request', 'high'],
      ],
    )
  })

  it('returns unsafe agent ids as digits', async (t) => {
    const senders = ['9007199254740991', '9007199254740993', '18446744073709551615']
    const messages = senders.map((sender_agent_id, i) => stored(9 - i, {sender_agent_id}))
    const {call} = await scripted(t, (response) => reply(response, 200, {messages}))
    const inbox = await call<Listing>('a2a_inbox', {agent_id: 'bert', source: 'mesh'})
    assert.deepEqual(
      inbox.messages.map(({sender}) => sender),
      [Number.MAX_SAFE_INTEGER, ...senders.slice(1)],
    )
  })

  it('is paginated within the limit', async (t) => {
    const all = Array.from({length: 300}, (_, i) => stored(300 - i))
    const {plane, call} = await scripted(t, (response, {body}) => {
      const {max_messages, before_message_id = 1000} = body as {max_messages: number; before_message_id?: number}
      reply(response, 200, {messages: all.filter(({id}) => id < before_message_id).slice(0, max_messages)})
    })
    const ids = async (input: object) => {
      const {messages} = await call<Listing>('a2a_inbox', {agent_id: 'bert', source: 'mesh', ...input})
      return messages.map(({id}) => id)
    }
    assert.deepEqual(await ids({max_messages: 2}), [300, 299])
    assert.deepEqual(await ids({max_messages: 2, before_message_id: 3}), [2, 1])
    assert.equal(plane.asked.length, 2)
    assert.equal((await ids({})).length, 256, 'no more than a consumer takes at once')
  })

  it('is merged with the others, with distinct ids', async (t) => {
    const {orchestrator, call, notices} = await scripted(t, (response) =>
      reply(response, 200, {messages: [stored(1, {priority: 255})]}),
    )
    orchestrator.say('local')
    orchestrator.say('db', {route: 'db'})
    const inbox = await call<Listing>('a2a_inbox', {agent_id: 'bert'})
    assert.deepEqual(
      inbox.messages.map(({id, display_id, route}) => [id, display_id, route]),
      [
        [1, 'mesh:1', 'mesh'],
        [1, 'M-000001', 'local'],
        [1, undefined, 'db'],
      ],
    )
    assert.deepEqual([inbox.source, inbox.routes, inbox.unread_count], ['merged', ['local', 'db', 'mesh'], 3])
    assert.deepEqual([inbox.remote_attempted, inbox.remote_ok, notices], [true, true, []])
    const claimed = await call<Listing>('a2a_inbox', {agent_id: 'bert', claim: true, consumer_id: 'w', max_messages: 2})
    assert.deepEqual(
      claimed.messages.map(({route}) => route),
      ['mesh', 'db'],
      'claimed messages are included',
    )
  })

  for (const [what, script] of [
    ['refuses', (response) => problem(response, 503, 'overloaded')],
    ['hangs up', (response) => response.destroy()],
    ['does not respond', () => {}],
  ] as [string, Script][])
    it(`is omitted with a notice if the control plane ${what}, after one request`, async (t) => {
      const env = {SVC_ORCHESTRATOR_MESH_HTTP_TIMEOUT_MS: '500'}
      const {plane, orchestrator, call, notices} = await scripted(t, script, env)
      orchestrator.say('db', {route: 'db'})
      const inbox = await call<Listing>('a2a_inbox', {agent_id: 'bert'})
      assert.deepEqual(
        inbox.messages.map(({payload}) => payload),
        ['db'],
      )
      assert.deepEqual([inbox.remote_attempted, inbox.remote_ok, plane.asked.length], [true, false, 1])
      assert.equal(notices.length, 1)
      assert.match(notices[0] ?? '', /^warning: Messages of other machines are not shown: .*\.$/)
    })

  it('is not requested for other sources', async (t) => {
    const {plane, orchestrator, call} = await scripted(t, (response) => reply(response, 500))
    for (const input of [{source: 'db'}, {source: 'local'}, {dead: true}])
      await call('a2a_inbox', {agent_id: 'bert', ...input})
    for (const more of [{claim: true, consumer_id: 'w'}, {dead: true}])
      await refusal(call('a2a_inbox', {agent_id: 'bert', source: 'mesh', ...more}), 'usage')
    await refusal(call('a2a_inbox', {agent_id: 'bert', before_message_id: 3}), 'usage')
    await refusal(call('a2a_inbox', {agent_id: 'nobody', source: 'mesh'}), 'agent_not_found')
    await refusal(call('a2a_history', {source: 'mesh'}), 'usage')
    await call('a2a_history', {})
    giveSession(orchestrator, 'bert', 's-1')
    await refusal(call('a2a_inbox', {agent_id: 'bert', source: 'mesh'}), 'agent_session_mismatch')
    assert.deepEqual(plane.asked, [])
  })
})

describe('acknowledging a mesh message', () => {
  it('works by its mesh id or its number', async (t) => {
    const {plane, call} = await scripted(t, (response) => reply(response, 204))
    for (const input of [
      {message_id: 'mesh:1042'},
      {message_id: 1042, route: 'mesh'},
      {message_id: 'MESH:1042', route: 'db'},
    ])
      assert.deepEqual(await call('a2a_ack', {agent_id: 'bert', ...input}), {
        acknowledged: true,
        message_id: 1042,
        db_message_uuid: null,
        route: 'mesh',
        delivery_plane: 'remote_mesh',
        local_acknowledged: false,
        remote_attempted: true,
        remote_acknowledged: true,
        dead_lettered: false,
      })
    assert.deepEqual(
      plane.asked.map(({body}) => body),
      Array(3).fill({receiver_agent_id: '2', message_id: 1042}),
    )
  })

  it('includes the configured node name', async (t) => {
    const {plane, call} = await scripted(t, (response) => reply(response, 204), {SVC_MESH_NODE_ID: 'node-a'})
    await call('a2a_ack', {agent_id: 'bert', message_id: 'mesh:1042'})
    assert.equal(Object(plane.asked[0]?.body).claimer_node_id, 'node-a')
  })

  it('includes the stored node name', async (t) => {
    const {plane, orchestrator, call} = await scripted(t, (response) => reply(response, 204))
    await writeFiles(join(orchestrator.root, 'home'), {'.svc/mesh/node-id': 'node-kept\n'})
    await call('a2a_ack', {agent_id: 'bert', message_id: 'mesh:1042'})
    assert.equal(Object(plane.asked[0]?.body).claimer_node_id, 'node-kept')
  })

  it('does not accept local ids', async (t) => {
    const {plane, orchestrator, call} = await scripted(t, (response) => reply(response, 500))
    orchestrator.say('a')
    orchestrator.say('b', {route: 'db'})
    assert.equal((await call('a2a_ack', {agent_id: 'bert', message_id: 'M-000001', route: 'mesh'})).route, 'local')
    assert.equal((await call('a2a_ack', {agent_id: 'bert', message_id: 1, route: 'db'})).route, 'db')
    for (const message_id of ['mesh:', 'mesh:0', 'mesh:x', 'mesh1', 'xmesh:1'])
      await refusal(call('a2a_ack', {agent_id: 'bert', message_id}), 'usage')
    assert.deepEqual(plane.asked, [])
  })

  it('fails if the message is unknown, claimed by another node, or reported as failed', async (t) => {
    const {orchestrator, call} = await scripted(t, (response, _asked, count) =>
      count === 1 ? problem(response, 404, 'message_not_found') : problem(response, 409, 'not_lease_holder'),
    )
    const ack = {agent_id: 'bert', message_id: 'mesh:7'}
    assert.match((await refusal(call('a2a_ack', ack), 'message_not_found')).message, /mesh:7/)
    await refusal(call('a2a_ack', ack), 'not_lease_holder')
    await refusal(call('a2a_ack', {...ack, error: 'broken', consumer_id: 'w'}), 'usage')
    giveSession(orchestrator, 'bert', 's-1')
    await refusal(call('a2a_ack', ack), 'agent_session_mismatch')
  })
})

describe('a disconnecting caller', () => {
  for (const [name, input] of [
    ['a2a_send', hello],
    ['a2a_inbox', {agent_id: 'bert', source: 'mesh'}],
    ['a2a_inbox', {agent_id: 'bert', source: 'merged'}],
    ['a2a_ack', {agent_id: 'bert', message_id: 'mesh:7'}],
    ['status', {}],
  ] as const)
    it(`aborts ${name}${'source' in input ? ` of ${input.source}` : ''} immediately`, async (t) => {
      const reason = new Error('the caller has gone')
      const gone = new AbortController()
      const plane = await scriptedControlPlane(t, () => gone.abort(reason))
      const {call, notices} = caller(await openAt(t, plane.url), {}, gone.signal)
      await assert.rejects(call(name, input), (error) => error === reason)
      assert.deepEqual([plane.asked.length, notices], [1, []])
    })
})

describe('two workspaces of one mesh', () => {
  it('can both send the same text to the same agent', async (t) => {
    const tokens = {SVC_MESH_WORKER_TOKEN: 'worker-token-000001', SVC_MESH_SUBMITTER_TOKEN: 'submitter-token-0001'}
    const server = await startMeshServer(t, {env: tokens})
    const callers = [caller(await openAt(t, server.baseUrl, tokens)), caller(await openAt(t, server.baseUrl, tokens))]
    const ids = new Set<unknown>()
    for (const more of [{}, {correlation_id: 'job-1'}])
      for (const {call} of callers) {
        const sent = await call('a2a_send', {...hello, ...more})
        assert.equal(sent.duplicate, false)
        ids.add(sent.message_id)
      }
    assert.equal(ids.size, 4)
  })

  it('send messages to each other, read and acknowledge them', async (t) => {
    const tokens = {SVC_MESH_WORKER_TOKEN: 'worker-token-000001', SVC_MESH_SUBMITTER_TOKEN: 'submitter-token-0001'}
    const server = await startMeshServer(t, {env: tokens})
    const [here, there] = [await openAt(t, server.baseUrl, tokens), await openAt(t, server.baseUrl, tokens)]
    const [one, other] = [caller(here), caller(there)]
    const sent = await one.call('a2a_send', {...hello, receiver_id: 2, idempotency_key: 'k'})
    const again = await one.call('a2a_send', {...hello, receiver_id: 2, idempotency_key: 'k'})
    assert.deepEqual([again.message_id, again.duplicate], [sent.message_id, true])
    await refusal(
      one.call('a2a_send', {...hello, receiver_id: 2, idempotency_key: 'k', payload: 'x'}),
      'idempotency_key_reused',
    )
    there.say('from next door', {priority: 'low'})
    const inbox = await other.call<Listing>('a2a_inbox', {agent_id: 'bert'})
    assert.deepEqual(
      inbox.messages.map(({payload, display_id}) => [payload, display_id]),
      [
        ['hello', sent.display_id],
        ['from next door', 'M-000001'],
      ],
    )
    const ack = {agent_id: 'bert', message_id: sent.display_id}
    assert.equal((await other.call('a2a_ack', ack)).acknowledged, true)
    const mesh = {agent_id: 'bert', source: 'mesh'}
    assert.deepEqual((await other.call<Listing>('a2a_inbox', mesh)).messages, [])
    await refusal(other.call('a2a_ack', {...ack, message_id: 'mesh:99999'}), 'message_not_found')
    assert.deepEqual(one.notices.concat(other.notices), [])
    const snapshot = await modules.meshSnapshot(here)
    assert.deepEqual(snapshot, {ok: true, schema_version: 1, node_count: 0, nodes: []})
  })
})
