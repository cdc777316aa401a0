import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {compileSchema} from '../../src/contracts/index.js'
import {isErrorOf} from '../../src/errors/index.js'
import {createCall, type OperationContext, operationNamed, type Surface} from '../../src/operations/index.js'
import * as modules from '../../src/orchestrator/index.js'
import {type Agents, openWithAgents} from './support/agents.js'

/** Calls operations like a transport does: validates input and output against their schemas. */
function caller(
  orchestrator: Agents,
  {surface = 'mcp', env = {}}: {surface?: Surface; env?: Record<string, string>} = {},
) {
  const notices: string[] = []
  const context: OperationContext = {
    modules,
    orchestrator,
    surface,
    version: '0.0.0',
    sources: {env},
    speech: undefined,
    signal: new AbortController().signal,
    report: () => {},
    notice: (text) => {
      notices.push(text)
    },
    ask: undefined,
  }
  const call = async <T extends object = Record<string, unknown>>(name: string, input: object): Promise<T> => {
    const operation = operationNamed(name)
    const answer = await createCall(operation, name).perform(input, context)
    const check = await compileSchema(operation.output, `${name} output`)
    assert.deepEqual(check(answer), [])
    return answer as T
  }
  return {call, notices}
}

const hello = {sender_id: 'anna', receiver_id: 'bert', msg_type: 'help_request', payload: 'hello'}

describe('the message operations', () => {
  it('cover the life cycle of a message, each reply with plane and route', async (t) => {
    const {call} = caller(await openWithAgents(t))
    const sent = await call('a2a_send', hello)
    assert.deepEqual(sent, {
      message_id: 1,
      display_id: 'M-000001',
      db_message_uuid: null,
      sender: 1,
      receiver: 2,
      msg_type: 'help_request',
      route: 'local',
      delivery_plane: 'local_ephemeral',
      route_ok: true,
      duplicate: false,
      idempotency_key: sent.idempotency_key,
      correlation_id: null,
      tenant_id: null,
      relay_attempted: false,
      relay_ok: false,
      dropped_messages: 0,
      sender_identity_binding: 'unbound',
      binding_advisory: sent.binding_advisory,
    })
    const inbox = await call('a2a_inbox', {agent_id: 2})
    assert.deepEqual([inbox.source, inbox.unread_count, inbox.suppressed_count], ['merged', 1, 0])
    const history = await call('a2a_history', {limit: 5})
    assert.deepEqual([history.returned, history.delivery_planes], [1, ['local_ephemeral', 'local_durable']])
    const acked = await call('a2a_ack', {agent_id: 'bert', message_id: 'M-000001'})
    assert.deepEqual(acked, {
      acknowledged: true,
      message_id: 1,
      db_message_uuid: null,
      route: 'local',
      delivery_plane: 'local_ephemeral',
      local_acknowledged: true,
      remote_attempted: false,
      remote_acknowledged: false,
      dead_lettered: false,
    })
    const {sender_id, msg_type, payload} = hello
    const broadcast = await call('a2a_broadcast', {sender_id, msg_type, payload, priority: 'critical'})
    assert.deepEqual([broadcast.delivered_to, broadcast.delivery_plane, broadcast.route], [2, 'broadcast', 'local'])
  })

  it('send from a command to the durable plane by default', async (t) => {
    const orchestrator = await openWithAgents(t)
    const {call} = caller(orchestrator, {surface: 'cli'})
    const sent = await call('a2a_send', hello)
    assert.deepEqual([sent.route, sent.delivery_plane], ['db', 'local_durable'])
    assert.equal((await call('a2a_inbox', {agent_id: 'bert'})).source, 'db')
    assert.equal((await call('a2a_ack', {agent_id: 'bert', message_id: 1})).acknowledged, true)
    assert.equal((await caller(orchestrator, {surface: 'daemon'}).call('a2a_send', hello)).route, 'local')
  })

  it('pass on all members of a message', async (t) => {
    const {call} = caller(await openWithAgents(t))
    const more = {correlation_id: 'c', thread_id: 'th', tenant_id: 'te', priority: 'high', idempotency_key: 'k'}
    const sent = await call('a2a_send', {...hello, ...more, route: 'db'})
    assert.deepEqual([sent.idempotency_key, sent.correlation_id, sent.tenant_id], ['k', 'c', 'te'])
    const {messages} = await call<{messages: Record<string, unknown>[]}>('a2a_inbox', {agent_id: 2, source: 'db'})
    const {correlation_id, thread_id, tenant_id, priority} = messages[0] ?? {}
    assert.deepEqual([correlation_id, thread_id, tenant_id, priority], ['c', 'th', 'te', 'high'])
  })

  it('claim for the process of a command, or for the configured or specified consumer', async (t) => {
    const orchestrator = await openWithAgents(t)
    const claim = {agent_id: 'bert', source: 'db', claim: true}
    const surface = 'cli'
    const named = caller(orchestrator, {surface, env: {SVC_A2A_CONSUMER_ID: 'worker-7'}})
    assert.equal((await caller(orchestrator, {surface}).call('a2a_inbox', claim)).consumer_id, `pid:${process.pid}`)
    assert.equal((await named.call('a2a_inbox', claim)).consumer_id, 'worker-7')
    assert.equal((await named.call('a2a_inbox', {...claim, consumer_id: 'me'})).consumer_id, 'me')
    assert.equal((await named.call('a2a_inbox', {agent_id: 'bert'})).consumer_id, undefined)
  })

  for (const surface of ['daemon', 'mcp'] as const)
    it(`require a consumer name on the ${surface}`, async (t) => {
      const orchestrator = await openWithAgents(t)
      const {call} = caller(orchestrator, {surface, env: {SVC_A2A_CONSUMER_ID: 'server'}})
      await call('a2a_send', {...hello, route: 'db'})
      const refuse = async (name: string, input: object, member: string) =>
        assert.rejects(call(name, input), (error) => {
          assert.ok(isErrorOf(error, 'params_invalid'))
          assert.match(
            error.message,
            new RegExp(`^Invalid parameters for ${name}: with ${member}, consumer_id is required, `),
          )
          return true
        })
      const claim = {agent_id: 'bert', claim: true}
      await refuse('a2a_inbox', claim, 'claim')
      const [first] = (await call<{messages: {claim_owner?: string}[]}>('a2a_inbox', {agent_id: 'bert'})).messages
      assert.equal(first?.claim_owner, undefined, 'nothing was claimed')
      const ids = async (consumer_id: string) =>
        (await call<{messages: {id: number}[]}>('a2a_inbox', {...claim, consumer_id})).messages.map(({id}) => id)
      assert.deepEqual([await ids('one'), await ids('two')], [[1], []])
      const failed = {agent_id: 'bert', message_id: 1, route: 'db', error: 'broken'}
      await refuse('a2a_ack', failed, 'error')
      assert.equal((await call('a2a_ack', {...failed, consumer_id: 'one'})).acknowledged, false)
      const done = {...failed, error: undefined}
      assert.equal((await call('a2a_ack', {...failed, consumer_id: 'one'})).acknowledged, false)
      const unclaimed = {...done, consumer_id: 'one'}
      assert.deepEqual(await call('a2a_ack', unclaimed), await call('a2a_ack', unclaimed))
      assert.equal((await call('a2a_ack', unclaimed)).acknowledged, true)
      assert.equal((await call('a2a_ack', {...done, consumer_id: 'two'})).acknowledged, false)
      await call('a2a_send', {...hello, payload: 'again', route: 'db'})
      const mine = {...done, message_id: (await ids('one'))[0], consumer_id: 'one'}
      const accepted = await call('a2a_ack', mine)
      assert.equal(accepted.acknowledged, true)
      assert.deepEqual(await call('a2a_ack', mine), accepted)
      assert.equal((await call('a2a_ack', {...mine, consumer_id: 'two'})).acknowledged, false)
    })

  for (const [limit, count, notice] of [
    [undefined, 256, false],
    ['2', 2, false],
    ['2048', 300, false],
    ['2049', 256, true],
    ['many', 256, true],
  ] as const)
    it(`read ${count} of 300 messages at once if the limit is ${limit ?? 'not set'}`, async (t) => {
      const orchestrator = await openWithAgents(t)
      orchestrator.store.transaction(() => {
        for (let i = 0; i < 300; i++) orchestrator.say(String(i), {route: 'db'})
      })
      const env = limit === undefined ? {} : {SVC_A2A_CLAIM_LIMIT: limit}
      const {call, notices} = caller(orchestrator, {env})
      const claim = {agent_id: 'bert', claim: true, consumer_id: 'w'}
      const {messages} = await call<{messages: unknown[]}>('a2a_inbox', claim)
      assert.equal(messages.length, count)
      assert.equal(
        notices.some((text) => /^warning: SVC_A2A_CLAIM_LIMIT must be .*\.$/.test(text)),
        notice,
      )
    })

  it('report a failure and list dead letters', async (t) => {
    const orchestrator = await openWithAgents(t)
    const {call} = caller(orchestrator)
    const {db_message_uuid: message_id} = await call('a2a_send', {...hello, route: 'db'})
    for (let i = 0; i < 10; i++) {
      await call('a2a_inbox', {agent_id: 'bert', claim: true, consumer_id: 'w'})
      const failed = await call('a2a_ack', {agent_id: 'bert', message_id, error: 'broken', consumer_id: 'w'})
      assert.deepEqual([failed.acknowledged, failed.dead_lettered], [false, i === 9])
      orchestrator.clock.ms += 120_000
    }
    const dead = await call<{messages: Record<string, unknown>[]}>('a2a_inbox', {agent_id: 'bert', dead: true})
    assert.deepEqual(
      dead.messages.map(({dead_lettered, last_claim_error}) => [dead_lettered, last_claim_error]),
      [[true, 'broken']],
    )
  })

  it('verify the session of an agent in every operation', async (t) => {
    const orchestrator = await openWithAgents(t)
    orchestrator.store.run("UPDATE orch_agents SET session_id = 's'")
    const {call} = caller(orchestrator)
    const {sender_id, msg_type, payload} = hello
    const calls: [string, object, string][] = [
      ['a2a_send', hello, 'sender_session_id'],
      ['a2a_broadcast', {sender_id, msg_type, payload}, 'sender_session_id'],
      ['a2a_inbox', {agent_id: 'bert'}, 'agent_session_id'],
      ['a2a_ack', {agent_id: 'bert', message_id: 1}, 'agent_session_id'],
    ]
    for (const [name, input, member] of calls) {
      await assert.rejects(call(name, input), (error) => isErrorOf(error, 'agent_session_mismatch'))
      await call(name, {...input, [member]: 's'})
    }
  })

  it('reject invalid input', async (t) => {
    const {call} = caller(await openWithAgents(t))
    for (const [name, input] of [
      ['a2a_send', {...hello, payload: undefined}],
      ['a2a_send', {...hello, payload: {a: 1}}],
      ['a2a_send', {...hello, extra: 1}],
      ['a2a_inbox', {agent_id: 'bert', max_messages: 0}],
      ['a2a_inbox', {agent_id: 'bert', max_messages: 2049}],
      ['a2a_ack', {agent_id: 'bert'}],
      ['a2a_history', {limit: 1001}],
    ] as const)
      await assert.rejects(call(name, input), (error) => isErrorOf(error, 'params_invalid'))
  })
})
