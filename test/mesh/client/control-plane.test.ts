import assert from 'node:assert/strict'
import {once} from 'node:events'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {
  createMeshClient,
  type DeliverRequest,
  holdLease,
  inboxPages,
  type LeaseLoss,
  type MembershipEvent,
  type MeshClient,
  type MeshClientOptions,
  MeshHttpError,
  startMembership,
} from '../../../src/mesh/index.js'
import {meshSnapshot} from '../../../src/orchestrator/index.js'
import {openTestOrchestrator} from '../../orchestrator/support/open-test-orchestrator.js'
import {type MeshServer, startMeshServer} from '../../support/mesh-server.js'
import {suiteMeshServer} from '../../support/mesh-workspace.js'
import {until} from '../../support/until.js'
import {type Fate, loggingProxy, type Passage} from './support/logging-proxy.js'

type Test = {after(work: () => Promise<void> | void): void}

const worker = 'worker-token-0000001'
const submitter = 'submitter-token-0001'
const admin = 'admin-token-00000001'
const secrets = {SVC_MESH_WORKER_TOKEN: worker, SVC_MESH_SUBMITTER_TOKEN: submitter, SVC_MESH_ADMIN_TOKEN: admin}
const tokens = {worker, submitter, admin}

const node = (id: string) => ({id, version: '1.0.0', capabilities: {cpu_cores: 4}})
const message: DeliverRequest = {senderAgentId: '1', receiverAgentId: '2', messageType: 'free_form', payload: 'hello'}

function connect(t: Test, {baseUrl}: {baseUrl: string}, options: Partial<MeshClientOptions> = {}): MeshClient {
  const client = createMeshClient({baseUrl, tokens, ...options})
  t.after(() => client.close())
  return client
}

const start = (t: Test, env: Readonly<Record<string, string>> = {}): Promise<MeshServer> =>
  startMeshServer(t, {env: {...secrets, ...env}})

/** Starts a control plane shared by the tests of a suite. */
const suiteServer = (env: Readonly<Record<string, string>> = {}) => suiteMeshServer({...secrets, ...env})

/** A client whose control plane asks for a heartbeat each 100 ms: the real interval is 15 s at least. */
const withFrequentHeartbeats = (client: MeshClient): Pick<MeshClient, 'join' | 'heartbeat' | 'leave'> => ({
  join: async (...args) => Object.assign(await client.join(...args), {next_heartbeat_ms: 100}),
  heartbeat: async (...args) => Object.assign(await client.heartbeat(...args), {next_heartbeat_ms: 100}),
  leave: (...args) => client.leave(...args),
})

const refusal = (status: number, code: string) => (error: unknown) => {
  assert.ok(error instanceof MeshHttpError, String(error))
  assert.deepEqual([error.status, error.code], [status, code])
  return true
}

describe('client and control plane', () => {
  it('support every operation with the token for its plane', async (t) => {
    const server = await start(t)
    const client = connect(t, server)
    await client.health()
    assert.match(await client.metrics(), /\n/)
    const joined = await client.join({...node('node-a'), cpu_usage_pct: 3})
    assert.deepEqual([joined.id, joined.cpu_usage_pct], ['node-a', 3])
    const beat = await client.heartbeat({id: 'node-a', cpu_usage_pct: 7, receiver_agent_id: '2'})
    assert.deepEqual([beat.cpu_usage_pct, beat.inbox_pending], [7, 0])
    assert.ok((beat.next_heartbeat_ms ?? 0) > 0)

    const lease = await client.grantLease({scopeKey: 'task:1', claimer: 'node-a'})
    assert.equal(lease.fence_token, Number(lease.lease_id))
    const held = {lease: lease.lease_id, claimer: 'node-a'}
    await client.renewLease(held)
    const verified = await client.verifyLease({lease: lease.lease_id, scopeKey: 'task:1'})
    assert.equal(verified.holder_node_id, 'node-a')
    assert.deepEqual(
      (await client.listLeases()).map(({scope_key}) => scope_key),
      ['task:1'],
    )
    assert.deepEqual([await client.releaseLease(held), await client.releaseLease(held)], [true, false])
    await assert.rejects(client.renewLease(held), refusal(404, 'lease_not_found'))
    await assert.rejects(client.revokeLease(lease.lease_id), refusal(404, 'lease_not_found'))

    const delivered = await client.deliver({...message, idempotencyKey: 'k', taskKind: 'embed', priority: 200})
    assert.equal(
      (await client.deliver({...message, idempotencyKey: 'k', taskKind: 'embed', priority: 200})).duplicate,
      true,
    )
    await assert.rejects(
      client.deliver({...message, idempotencyKey: 'k', payload: 'other'}),
      refusal(422, 'idempotency_key_reused'),
    )
    const {pending_count, pending_by_kind} = await client.queueStats()
    assert.deepEqual([pending_count, pending_by_kind], [1, {embed: 1}])
    const [claimed] = await client.inbox({receiver: '2', claimer: 'node-a'})
    assert.deepEqual([claimed?.id, claimed?.payload], [delivered.message_id, 'hello'])
    const claim = {receiver: '2', message: delivered.message_id, claimer: 'node-a'}
    await client.renewClaim(claim)
    assert.equal(await client.ack(claim), true)
    assert.equal(await client.ack({...claim, message: 99_999}), false)

    await client.setMaintenance({node: 'node-a', maintenance: true, forMs: 60_000})
    const grant = client.grantLease({scopeKey: 'task:2', claimer: 'node-a'})
    await assert.rejects(grant, refusal(403, 'node_maintenance'))
    await client.setMaintenance({node: 'node-a', maintenance: false})
    await client.setQuarantine({node: 'node-a', quarantined: true})
    const {nodes} = await client.listNodes({fields: 'brief'})
    assert.deepEqual(
      nodes.map(({id, quarantined}) => [id, quarantined]),
      [['node-a', true]],
    )
    assert.deepEqual([await client.leave('node-a'), await client.leave('node-a')], [true, false])
    await assert.rejects(client.setQuarantine({node: 'node-z', quarantined: true}), refusal(404, 'node_not_found'))
  })

  it('refuse operations that the role does not permit', async (t) => {
    const server = await start(t)
    await assert.rejects(connect(t, server, {tokens: {mesh: 'wrong'}}).listNodes(), refusal(401, 'unauthorized'))
    const asWorker = connect(t, server, {tokens: {mesh: worker}})
    await assert.rejects(asWorker.deliver(message), refusal(403, 'role_forbidden'))
    await assert.rejects(asWorker.listLeases(), refusal(403, 'role_forbidden'))
    await assert.rejects(connect(t, server, {tokens: {submitter}}).listNodes(), refusal(401, 'unauthorized'))
  })

  it('work with tokens signed per request', async (t) => {
    const secret = 'a secret that is longer than thirty-two bytes'
    const server = await startMeshServer(t, {env: {SVC_MESH_JWT_HMAC_SECRET: secret}})
    const client = connect(t, server, {tokens: {jwtHmacSecret: secret, nodeId: 'node-a'}})
    await client.join(node('node-a'))
    for (let i = 0; i < 3; i++)
      assert.deepEqual(await client.listLeases(), [], 'a token of an administrator works once')
    await client.deliver(message)
    await assert.rejects(client.join(node('node-b')), refusal(403, 'node_identity_mismatch'))
  })

  it('exchange a bootstrap token once', async (t) => {
    const server = await start(t, {
      SVC_MESH_BOOTSTRAP_TOKEN: 'one-shot-token-000001',
      SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS: String(Date.now() + 600_000),
    })
    const client = connect(t, server, {tokens: {}})
    await assert.rejects(client.exchangeBootstrap('one-shot-token-000002'), refusal(401, 'bootstrap_invalid'))
    const given = await client.exchangeBootstrap('one-shot-token-000001', {node: 'node-a'})
    assert.deepEqual([given.mesh_token, given.submitter_token, given.role], [worker, submitter, 'worker'])
    await assert.rejects(client.exchangeBootstrap('one-shot-token-000001'), refusal(410, 'bootstrap_consumed'))
  })

  it('page through a large inbox, newest message first', async (t) => {
    const client = connect(t, await start(t))
    const sent: number[] = []
    for (let i = 0; i < 10; i++)
      sent.unshift((await client.deliver({...message, messageType: i % 2 === 0 ? 'even' : 'odd'})).message_id)
    const ids = async (pages: Parameters<typeof inboxPages>[1]) => {
      const read: number[] = []
      for await (const page of inboxPages(client, pages)) read.push(...page.map(({id}) => id))
      return read
    }
    assert.deepEqual(await ids({receiver: '2', pageSize: 3}), sent)
    assert.deepEqual(await ids({receiver: '2', pageSize: 3, maxPages: 2}), sent.slice(0, 6))
    assert.deepEqual(
      await ids({receiver: '2', types: ['odd'], pageSize: 2}),
      sent.filter((_, i) => i % 2 === 0),
    )
    assert.deepEqual(await ids({receiver: '3'}), [])
  })

  it('long-poll for a message', async (t) => {
    const server = await start(t)
    const waiting = connect(t, server, {timeoutMs: 100}).inbox({receiver: '2', waitMs: 60_000})
    // Longer than the default timeout of this client.
    await sleep(150)
    const {message_id: id} = await connect(t, server).deliver(message)
    assert.deepEqual(
      (await waiting).map((each) => each.id),
      [id],
    )
  })
})

describe('membership', () => {
  it('lists the node while it sends heartbeats and until it leaves', async (t) => {
    const client = connect(t, await start(t, {SVC_MESH_SCOPE_ID: 'scope-a'}))
    const events: MembershipEvent[] = []
    const record = () => ({...node('node-a'), scope_id: 'scope-a'})
    const onEvent = (event: MembershipEvent) => events.push(event)
    const membership = startMembership(withFrequentHeartbeats(client), {record, heartbeatSecs: 0.1, onEvent})
    t.after(() => membership.leave().catch(() => undefined))
    await until(() => events.length >= 2, 'two events')
    assert.deepEqual(
      events.map(({type}) => type),
      ['joined', 'heartbeat'],
    )
    const listed = async () => (await client.listNodes()).nodes.map(({id, scope_id}) => [id, scope_id])
    assert.deepEqual(await listed(), [['node-a', 'scope-a']])
    assert.equal(await membership.leave(), true)
    assert.deepEqual(await listed(), [])
  })

  it('ends when a newer process uses the node id', async (t) => {
    const client = connect(t, await start(t))
    const events: MembershipEvent[] = []
    const record = () => node('node-a')
    const onEvent = (event: MembershipEvent) => events.push(event)
    const older = startMembership(withFrequentHeartbeats(client), {record, heartbeatSecs: 0.1, onEvent})
    await until(() => events.length > 0, 'the first event')
    const {nodes} = await client.listNodes()
    assert.equal(nodes.length, 1)
    // The process that joined last is the newer one, whatever its incarnation number.
    await client.join({...record(), incarnation: Number.MAX_SAFE_INTEGER, seq: 0})
    await older.done
    const last = events.at(-1)
    assert.ok(last?.type === 'replaced' && last.error.code === 'duplicate_node_id', JSON.stringify(events))
  })
})

describe('held lease', {concurrency: 3}, () => {
  const shared = suiteServer({SVC_MESH_A2A_LEASE_MS: '6000'})

  /** Holds a lease as a new node. */
  const holding = async (t: Test, server: MeshServer, name: string) => {
    const client = connect(t, server, {timeoutMs: 60_000})
    await client.join(node(name))
    const losses: LeaseLoss[] = []
    const held = await holdLease(client, {claimer: name, scopeKey: name, onLost: (loss) => losses.push(loss)})
    t.after(() => held.release())
    const listed = async () => (await client.listLeases()).filter(({scope_key}) => scope_key === name)
    return {client, held, losses, listed}
  }

  it('is renewed beyond its first duration and free after its release', async (t) => {
    const {client, held, listed} = await holding(t, shared(), 'kept')
    const {lease_id: lease, scope_key: scopeKey, expires_unix_ms: end} = held.lease
    for (let leftMs = 1; leftMs > 0; await sleep(Math.max(0, leftMs)))
      leftMs = end - (await client.verifyLease({lease, scopeKey})).server_time_unix_ms
    assert.equal(held.isHeld, true)
    assert.deepEqual(
      (await listed()).map(({lease_id}) => lease_id),
      [held.lease.lease_id],
    )
    await held.release()
    assert.deepEqual(await listed(), [])
  })

  it('is lost when an administrator revokes it', async (t) => {
    const {client, held, losses} = await holding(t, shared(), 'revoked')
    await client.revokeLease(held.lease.lease_id)
    if (!held.ended.aborted) await once(held.ended, 'abort')
    assert.deepEqual([held.isHeld, losses.map(({reason}) => reason)], [false, ['refused']])
  })

  it('is lost before its expiry if the control plane hangs', async (t) => {
    const server = await start(t, {SVC_MESH_A2A_LEASE_MS: '3000'})
    const sent = performance.now()
    const {held, losses} = await holding(t, server, 'silent')
    server.signal('SIGSTOP')
    t.after(() => server.signal('SIGCONT'))
    if (!held.ended.aborted) await once(held.ended, 'abort')
    assert.ok(performance.now() - sent >= 1490)
    assert.deepEqual([held.isHeld, losses.map(({reason}) => reason)], [false, ['deadline']])
    server.signal('SIGCONT')
  })
})

describe('requests over an unreliable network', () => {
  const shared = suiteServer()

  const between = async (t: Test, server = shared()) => {
    const proxy = await loggingProxy(t, server.baseUrl)
    return {proxy, client: connect(t, {baseUrl: proxy.url}, {random: () => 0.01}), direct: connect(t, server)}
  }

  /** Creates a message for an unused receiver. */
  let receivers = 100
  const ownMessage = (): DeliverRequest => ({...message, receiverAgentId: String(++receivers)})

  /** Asserts that every retry respected the previous Retry-After. */
  const obeys = (log: readonly Passage[]) => {
    for (const [i, {retryAfterMs = 0, atMs}] of log.entries())
      if (i + 1 < log.length) assert.ok((log[i + 1]?.atMs ?? 0) - atMs >= retryAfterMs, `after ${retryAfterMs} ms`)
  }

  const every = (fate: Fate, count = 20): Fate[] => Array(count).fill(fate)

  for (const fate of ['lose request', 'lose answer', {status: 503}, {status: 429, retryAfter: 0}] as const) {
    const what = typeof fate === 'string' ? `the network ${fate}s` : `the proxy returns ${fate.status}`

    it(`deliver a keyed message in up to four attempts, but once, if ${what}`, async (t) => {
      const {proxy, client, direct} = await between(t)
      const keyed = {...ownMessage(), idempotencyKey: 'k'}
      proxy.fates = every(fate)
      await assert.rejects(client.deliver(keyed), MeshHttpError)
      assert.equal(proxy.log.length, 4)
      assert.equal(new Set(proxy.log.map(({body}) => body)).size, 1)
      proxy.fates = [fate]
      const {message_id: id} = await client.deliver(keyed)
      assert.equal(proxy.log.length, 6)
      assert.deepEqual(
        (await direct.inbox({receiver: keyed.receiverAgentId})).map((each) => each.id),
        [id],
      )
    })

    it(`deliver a message without a key in one attempt if ${what}`, async (t) => {
      const {proxy, client, direct} = await between(t)
      proxy.fates = every(fate)
      const unkeyed = ownMessage()
      await assert.rejects(client.deliver(unkeyed), MeshHttpError)
      assert.equal(proxy.log.length, 1)
      assert.equal((await direct.inbox({receiver: unkeyed.receiverAgentId})).length, fate === 'lose answer' ? 1 : 0)
    })

    it(`retry a repeatable request up to three times if ${what}`, async (t) => {
      const {proxy, client} = await between(t)
      proxy.fates = every(fate)
      await assert.rejects(client.join(node('node-a')), MeshHttpError)
      assert.equal(proxy.log.length, 4)
    })
  }

  it('respect Retry-After', async (t) => {
    const {proxy, client} = await between(t)
    proxy.fates = [{status: 429, retryAfter: 1}, 'lose answer', {status: 503, retryAfter: 1}]
    await client.join(node('node-a'))
    assert.equal(proxy.log.length, 4)
    obeys(proxy.log)
  })

  it('respect the rate limit of the control plane', async (t) => {
    const limit = {
      SVC_MESH_HTTP_RATE_LIMIT: '1',
      SVC_MESH_HTTP_RATE_LIMIT_PER_SEC: '1',
      SVC_MESH_HTTP_RATE_LIMIT_BURST: '1',
    }
    const {proxy, client} = await between(t, await start(t, limit))
    for (let i = 0; i < 3; i++) await client.queueStats()
    assert.ok(proxy.log.some(({status}) => status === 429))
    obeys(proxy.log)
  })
})

describe('mesh snapshot', () => {
  it('filters nodes by the clock of the control plane', async (t) => {
    const server = await start(t)
    const client = connect(t, server)
    await client.join({...node('node-a'), capabilities: {labels: [`token=${worker}`]}})
    const env = {...secrets, SVC_ORCHESTRATOR_MESH_CONTROL_URL: server.baseUrl, SVC_MESH_MAX_STALE_MS: '60000'}
    // The local clock is years off.
    const orchestrator = await openTestOrchestrator(t, {env})
    const snapshot = await meshSnapshot(orchestrator)
    assert.ok(snapshot?.ok, JSON.stringify(snapshot))
    assert.deepEqual(
      [snapshot.schema_version, snapshot.node_count, snapshot.nodes.map(({id}) => id)],
      [1, 1, ['node-a']],
    )
    assert.deepEqual(snapshot.nodes[0]?.capabilities, {labels: ['token=[redacted]']})
    const stale = await openTestOrchestrator(t, {env: {...env, SVC_MESH_MAX_STALE_MS: '100'}})
    await until(async () => {
      const later = await meshSnapshot(stale)
      assert.ok(later?.ok)
      return later.nodes.length === 0
    }, 'the node is stale')
  })

  it('contains the error if the control plane is unreachable', async (t) => {
    const server = await start(t)
    const env = {SVC_ORCHESTRATOR_MESH_CONTROL_URL: server.baseUrl, SVC_MESH_TOKEN: 'a-wrong-token'}
    const snapshot = await meshSnapshot(await openTestOrchestrator(t, {env}))
    assert.ok(snapshot?.ok === false)
    assert.match(snapshot.error, /^The control plane responded to list_nodes with unauthorized: .*\.$/)
  })
})
