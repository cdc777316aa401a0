import assert from 'node:assert/strict'
import {createHash} from 'node:crypto'
import {once} from 'node:events'
import {connect} from 'node:net'
import {before, describe, it} from 'node:test'
import {SvcError} from '../../../src/errors/index.js'
import {features} from '../../../src/mesh/protocol/features.js'
import {maxBlobBytes} from '../../../src/mesh/protocol/remote-task.js'
import {mayUse, type Role} from '../../../src/mesh/protocol/roles.js'
import {routes} from '../../../src/mesh/protocol/routes.js'
import {skipWithoutPostgres} from '../../support/postgres.js'
import {timeoutMs} from '../../support/until.js'
import {newStoreDatabase} from '../store/postgres/open-store.js'
import {type Asked, ask} from './support/ask.js'
import {askDocumented, contract, documented, emptyFile, post, seen} from './support/contract.js'
import {lifeOfSuite, type Plane, startPlane, waiting} from './support/control-plane.js'
import {attested, bodies, message, record} from './support/samples.js'
import {resultKey, secrets, tokenOf, tokenOfOwnWords} from './support/tokens.js'

const {document, operations, violations} = contract
const suite = lifeOfSuite()
const scope = 'scope-a1'
const {mesh, admin, worker, submitter, bootstrap} = tokenOf

/** Operations with their paths and contract methods. */
const table = Object.values(routes)
const routeAt = (path: string) => table.find((route) => route.path === path)
const exchange = routes.bootstrap_exchange.path
const file = routes.blob_put.path
const withToken = operations.filter(({path}) => !['/health', exchange].includes(path))
const withBody = operations.filter(({method}) => method === 'POST')

const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** Token of a role that permits an operation. */
const tokenFor = (path: string) => (path === exchange ? bootstrap : mesh)

/** Sample body of an operation in a scope, if it has one; for a file, an empty one. */
function asked(method: string, path: string, node = 'n-1'): Asked {
  if (method === 'PUT') return {body: '', headers: {'content-type': 'application/octet-stream'}}
  return method === 'POST' ? {body: {...bodies[path]?.(node), scope_id: scope}} : {}
}

/** Status of a permitted request without files, and with a body that is invalid if the operation has one. */
function permitted(method: string, path: string): number {
  if (method === 'PUT') return 415
  return method === 'POST' ? 400 : path === file ? 404 : 200
}

describe('control-plane.openapi.yaml', () => {
  it('describes exactly the routes of the table', () => {
    const expected = table.flatMap(({method, path}) =>
      method === 'GET' ? [`GET ${path}`, `HEAD ${path}`] : [`${method} ${path}`],
    )
    assert.deepEqual(operations.map(({method, path}) => `${method} ${path}`).sort(), expected.sort())
  })

  it('has the operation names and success statuses of the table', () => {
    for (const [name, {method, path, ok}] of Object.entries(routes)) {
      const operation = document.paths[path]?.[method.toLowerCase()]
      assert.equal(operation?.operationId, name)
      assert.ok(operation.responses[ok], name)
    }
  })

  it('has no dangling references and no unused components', () => {
    const {broken, unused} = contract.looseEnds()
    assert.deepEqual(broken, [])
    const ofNoOperation = ['PathMalformed', 'RouteUnknown', 'MethodNotAllowed']
    assert.deepEqual(
      unused,
      ofNoOperation.map((name) => `#/components/responses/${name}`),
    )
  })

  it('does not permit undocumented members in responses', () => {
    const node = {id: 'n', version: '1', last_seen_unix_ms: 1}
    const lease = {lease_id: '1', fence_token: 1, scope_key: 'k', holder_node_id: 'n', expires_unix_ms: 1}
    const kept = {
      ...message(),
      id: 1,
      priority: 1,
      created_unix_ms: 1,
      acknowledged: false,
      delivery_attempts: 16,
      dead_unix_ms: 1,
    }
    const undocumented: readonly [string, object][] = [
      ['NodeRecord', {...node, token: 'x'}],
      ['NodeRecord', {...node, next_heartbeat_ms: 15_000}],
      ['HeartbeatReply', node],
      ['GrantedLease', lease],
      ['ExecLease', {...lease, token: 'x'}],
      ['Registry', {schema_version: 1, queue_depth: 0, server_time_unix_ms: 1, nodes: [], truncated: true}],
      ['DeadMessage', {...kept, token: 'x'}],
      ['StoredMessage', kept],
      ['BadBodyProblem', {type: 'about:blank', title: 'x', status: 400, code: 'x', detail: 'x', hint: 'x'}],
    ]
    for (const [name, value] of undocumented) assert.notEqual(violations(name, value), '', name)
  })
})

describe('control plane', () => {
  let plane: Plane
  let open: Plane

  before(async () => {
    plane = await startPlane(suite, {secrets, scope})
    open = await startPlane(suite)
    assert.equal((await askDocumented(plane, 'PUT', file, {token: mesh, ...asked('PUT', file)})).status, 204)
  })

  /** Joins a new node. */
  const joined = async (node: string, more: object = {}) => {
    const body = record(node, {scope_id: scope, ...more})
    assert.equal((await post(plane, '/v1/mesh/join', body, {token: worker})).status, 200)
  }

  describe('valid requests', () => {
    it('join, heartbeat, list and leave', async () => {
      await joined('walker', {incarnation: 7, seq: 0})
      const beat = {id: 'walker', scope_id: scope, incarnation: 7, seq: 1, cpu_usage_pct: 12.5, receiver_agent_id: '2'}
      const seenNode = await post(plane, '/v1/mesh/heartbeat', beat, {token: worker})
      assert.equal(seenNode.body.cpu_usage_pct, 12.5)
      for (const query of ['', 'fields=brief', 'limit=1', 'labels=pool=train', 'updated_since_unix_ms=0'])
        assert.equal((await askDocumented(plane, 'GET', '/v1/mesh/nodes', {token: worker, query})).status, 200, query)
      const conditional = {token: worker, headers: {'if-none-match': '*'}}
      for (const method of ['GET', 'HEAD'])
        assert.equal((await askDocumented(plane, method, '/v1/mesh/nodes', conditional)).status, 304)
      assert.equal((await post(plane, '/v1/mesh/leave', {id: 'walker'}, {token: worker})).status, 204)
    })

    it('skip fencing tokens after a failover', {skip: skipWithoutPostgres}, async (t) => {
      const promoted = await startPlane(t, {url: await newStoreDatabase()})
      const {status, body} = await post(promoted, '/v1/mesh/admin/store/promote', {skip_tokens: 1_000_000})
      assert.deepEqual([status, body], [200, {fence_token: 1_000_001}])
    })

    it('grant, renew, verify, list, release and revoke a lease', async () => {
      await joined('holder')
      const claim = {scope_key: 'task:walk', claimer_node_id: 'holder'}
      const {body: lease} = await post(plane, '/v1/mesh/exec/lease/grant', claim, {token: worker})
      const held = {lease_id: lease.lease_id, claimer_node_id: 'holder'}
      const verify = {lease_id: lease.lease_id, scope_key: 'task:walk'}
      assert.equal((await post(plane, '/v1/mesh/exec/lease/renew', held, {token: worker})).status, 204)
      assert.equal((await post(plane, '/v1/mesh/exec/lease/verify', verify, {token: worker})).body.valid, true)
      const listed = await askDocumented(plane, 'GET', '/v1/mesh/exec/leases', {token: admin})
      assert.equal(listed.body.leases.length, 1)
      assert.equal((await post(plane, '/v1/mesh/exec/lease/release', held, {token: worker})).status, 204)
      const again = await post(plane, '/v1/mesh/exec/lease/grant', claim, {token: worker})
      assert.ok(again.body.fence_token > lease.fence_token)
      const revoke = {lease_id: again.body.lease_id}
      assert.equal((await post(plane, '/v1/mesh/admin/exec-lease/revoke', revoke, {token: admin})).status, 204)
    })

    it('deliver, read, claim, renew and acknowledge a message', async () => {
      await joined('reader')
      const needed = {requirements: {gpu_cuda: true, min_vram_mb: 8192, labels: ['pool=train']}}
      const full = message({
        ...needed,
        receiver_agent_id: '21',
        idempotency_key: 'k-1',
        privacy_class: 'private',
        priority: 255,
        task_kind: 'svc_script',
        model_id: 'm-1',
        traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
        jwe_payload: 'eyJhbGciOiJkaXIifQ..aXY.Y2lwaGVy.dGFn',
        sender_node_id: 'n-9',
      })
      const {body: first} = await post(plane, '/v1/mesh/a2a/deliver', full, {token: submitter})
      const {body: again} = await post(plane, '/v1/mesh/a2a/deliver', full, {token: submitter})
      assert.deepEqual(again, {...first, duplicate: true})
      const looked = await post(plane, '/v1/mesh/a2a/inbox', {receiver_agent_id: '21'}, {token: worker})
      assert.equal(looked.body.messages.length, 1)
      const claim = {receiver_agent_id: '21', claimer_node_id: 'reader'}
      const {body: claimed} = await post(plane, '/v1/mesh/a2a/inbox', claim, {token: worker})
      assert.equal(claimed.messages[0].lease_holder_node_id, 'reader')
      assert.deepEqual(claimed.messages[0].requirements, needed.requirements)
      const held = {...claim, message_id: first.message_id}
      assert.equal((await post(plane, '/v1/mesh/a2a/lease-renew', held, {token: worker})).status, 204)
      for (let i = 0; i < 2; i++)
        assert.equal((await post(plane, '/v1/mesh/a2a/ack', held, {token: worker})).status, 204)
      assert.equal((await post(plane, '/v1/mesh/a2a/deliver', attested('{"ok":true}'), {token: submitter})).status, 200)
      const stats = await askDocumented(plane, 'GET', '/v1/mesh/queue/stats', {token: worker})
      assert.equal(stats.body.pending_count, 1)
    })

    it('list, retry and drop a dead message, with audit entries', async (t) => {
      let now = Date.now()
      const plane = await startPlane(t, {secrets, limits: {leaseMs: 1000}, storeTime: () => now})
      await post(plane, '/v1/mesh/join', record('reader'), {token: worker})
      const ids: number[] = []
      for (const payload of ['one', 'two', 'three'])
        ids.push((await post(plane, '/v1/mesh/a2a/deliver', message({payload}), {token: submitter})).body.message_id)
      const claim = {receiver_agent_id: '2', claimer_node_id: 'reader'}
      const claimed = async () => (await post(plane, '/v1/mesh/a2a/inbox', claim, {token: worker})).body.messages
      while ((await claimed()).length > 0) now += 1000
      const list = async (query: string) => {
        const {body} = await askDocumented(plane, 'GET', '/v1/mesh/a2a/dead', {token: admin, query})
        return [body.messages.map(({payload}: {payload: string}) => payload), body.next_cursor]
      }
      assert.deepEqual(await list(''), [['three', 'two', 'one'], undefined])
      assert.deepEqual(await list('limit=2'), [['three', 'two'], String(ids[1])])
      assert.deepEqual(await list(`limit=2&cursor=${ids[1]}`), [['one'], undefined])
      const [one, two] = ids
      const retry = {message_ids: [one, 999]}
      for (let i = 0; i < 2; i++) {
        const {body} = await post(plane, '/v1/mesh/a2a/dead/retry', retry, {token: admin})
        assert.deepEqual(body, {message_ids: [one], not_found: [999]})
        const dropped = await post(plane, '/v1/mesh/a2a/dead/drop', {message_ids: [two]}, {token: admin})
        assert.deepEqual(dropped.body, {message_ids: [two], not_found: []})
      }
      assert.deepEqual(
        (await claimed()).map(({id}: {id: number}) => id),
        [one],
      )
      assert.deepEqual(await list(''), [['three'], undefined])
      const audit = async (query: string) => {
        const {body} = await askDocumented(plane, 'GET', '/v1/mesh/admin/audit', {token: admin, query})
        return [body.entries.map(({action}: {action: string}) => action), body.next_cursor]
      }
      assert.deepEqual(await audit('limit=2'), [['message.dropped', 'message.retried'], '4'])
      assert.deepEqual(await audit('cursor=4'), [['message.dead', 'message.dead', 'message.dead'], undefined])
    })

    it('retry a dead message to a waiting client', async (t) => {
      let now = Date.now()
      const plane = await startPlane(t, {limits: {leaseMs: 1000}, storeTime: () => now, safetyMs: 600_000})
      await post(plane, '/v1/mesh/join', record('reader'))
      const {body: delivered} = await post(plane, '/v1/mesh/a2a/deliver', message())
      const claim = {receiver_agent_id: '2', claimer_node_id: 'reader'}
      const claimed = async (more: object = {}) =>
        (await post(plane, '/v1/mesh/a2a/inbox', {...claim, ...more})).body.messages
      while ((await claimed()).length > 0) now += 1000
      const later = claimed({wait_ms: 30_000})
      await waiting(plane, 1)
      await post(plane, '/v1/mesh/a2a/dead/retry', {message_ids: [delivered.message_id]})
      assert.equal((await later)[0].id, delivered.message_id)
    })

    it('start and end quarantine and maintenance', async () => {
      await joined('patient')
      for (const quarantined of [true, false]) {
        const body = {node_id: 'patient', quarantined}
        assert.equal((await post(plane, '/v1/mesh/admin/quarantine', body, {token: admin})).status, 204)
      }
      for (const how of [{maintenance_for_ms: 60_000}, {maintenance_until_unix_ms: Date.now() + 60_000}, {}]) {
        const body = {node_id: 'patient', maintenance: true, ...how}
        assert.equal((await post(plane, '/v1/mesh/admin/maintenance', body, {token: admin})).status, 204)
      }
      const {body} = await askDocumented(plane, 'GET', '/v1/mesh/nodes', {token: worker})
      assert.equal(body.nodes.find(({id}: {id: string}) => id === 'patient').maintenance, true)
    })

    it('health without a token and metrics with one', async () => {
      assert.equal((await askDocumented(plane, 'GET', '/health')).text, 'ok\n')
      const {text, headers} = await askDocumented(plane, 'GET', '/metrics', {token: worker})
      assert.match(text, /svc_mesh_requests_total\{operation="join",status="200"\} \d+\n/)
      assert.match(text, /svc_mesh_messages_pending 1\n/)
      assert.match(headers['content-type'] ?? '', /version=0\.0\.4/)
      for (const {method, path} of operations)
        if (method === 'HEAD') assert.equal((await askDocumented(plane, method, path, {token: mesh})).status, 200, path)
    })
  })

  describe('permissions', () => {
    type Caller = readonly [name: string, role: Role | undefined, token: () => string | undefined]
    const callers: readonly Caller[] = [
      ...(['mesh', 'admin', 'worker', 'submitter', 'bootstrap'] as const).map(
        (role): Caller => [`the token of the role ${role}`, role, () => tokenOf[role]],
      ),
      ...(['mesh', 'admin', 'worker', 'submitter'] as const).map(
        (role): Caller => [`a JWT of the role ${role}`, role, () => tokenOfOwnWords(role)],
      ),
      ['no token', undefined, () => undefined],
      ['an unknown token', undefined, () => 'token-of-nobody'],
      ['a JWT of another key', undefined, () => `${tokenOfOwnWords('mesh')}x`],
    ]

    /** Expected permissions, independent of the program's own table. */
    const allowed: Readonly<Record<string, readonly Role[]>> = {
      open: ['mesh', 'admin', 'worker', 'submitter', 'bootstrap'],
      worker: ['mesh', 'admin', 'worker'],
      deliver: ['mesh', 'admin', 'submitter'],
      blob: ['mesh', 'admin', 'worker', 'submitter'],
      admin: ['mesh', 'admin'],
      bootstrap: ['bootstrap'],
    }

    it('the table of planes matches the expected roles', () => assert.deepEqual(mayUse, allowed))

    for (const [name, role, token] of callers)
      it(name, async (t) => {
        // A separate server, because wrong bootstrap tokens are rate-limited.
        const plane = await startPlane(t, {secrets, scope})
        // Permitted requests fail on the invalid body, so that nothing changes and no token is consumed.
        for (const {method, path, operation} of operations) {
          const {plane: part = 'open'} = routeAt(path) ?? {}
          const body = method === 'POST' ? {body: {bootstrap_token: 5}} : {}
          const {status} = await askDocumented(plane, method, path, {token: token(), ...body})
          const isAllowed = part === 'open' || (role !== undefined && allowed[part]?.includes(role))
          const isUnknown = role === undefined || role === 'bootstrap' || part === 'bootstrap'
          const expected = isAllowed ? permitted(method, path) : isUnknown ? 401 : 403
          assert.equal(status, expected, `${method} ${path} (${operation.operationId})`)
        }
      })

    it('without secrets, everything except the bootstrap exchange is open', async () => {
      for (const token of [undefined, 'any-token-at-all'])
        for (const {method, path} of operations) {
          const {status} = await askDocumented(open, method, path, {token, ...(method === 'POST' ? {body: {}} : {})})
          assert.equal(status, path === exchange ? 404 : permitted(method, path), `${method} ${path}`)
        }
    })

    it('other methods are refused for all roles', async () => {
      const tokens = [undefined, ...Object.values(tokenOf)]
      for (const path of Object.keys(document.paths))
        for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
          for (const token of tokens) {
            if (document.paths[path]?.[method.toLowerCase()]) continue
            const answer = await ask(plane, method, path, {token})
            assert.equal(answer.status, 405, `${method} ${path}`)
            contract.assertResponse('MethodNotAllowed', method, answer)
            const takes = Object.keys(document.paths[path] ?? {}).map((one) => one.toUpperCase())
            assert.deepEqual(answer.headers.allow?.split(', ').sort(), takes.sort(), path)
          }
    })

    it('the Bearer scheme is case-insensitive', async () => {
      for (const authorization of [`bearer ${worker}`, `BEARER ${worker}`])
        assert.equal((await askDocumented(plane, 'GET', '/v1/mesh/nodes', {headers: {authorization}})).status, 200)
      const headers = {authorization: `Basic ${worker}`}
      assert.equal((await askDocumented(plane, 'GET', '/v1/mesh/nodes', {headers})).status, 401)
    })
  })

  describe('refused requests', () => {
    it('expired, replayed and foreign tokens', async () => {
      const long = Math.floor(Date.now() / 1000) - 600
      for (const {method, path} of withToken) {
        const late = {token: tokenOfOwnWords('mesh', {iat: long, exp: long + 60}), ...asked(method, path)}
        const foreign = {token: tokenOfOwnWords('mesh', {scp: 'scope-b2'}), ...asked(method, path)}
        const once = {token: tokenOfOwnWords('mesh', {sub: 'somebody'}), ...asked(method, path)}
        assert.equal((await askDocumented(plane, method, path, late)).status, 401)
        assert.equal((await askDocumented(plane, method, path, foreign)).status, 403)
        await askDocumented(plane, method, path, once)
        const replayed = await askDocumented(plane, method, path, once)
        if (method !== 'HEAD') assert.equal(replayed.body.code, 'token_replayed', path)
      }
    })

    it('tokens bound to another node', async () => {
      for (const {method, path} of withBody) {
        if (!document.paths[path]?.post || !documented.includes(`POST ${path} 403 node_identity_mismatch`)) continue
        const token = tokenOfOwnWords('mesh', {sub: 'somebody', scp: scope})
        const answer = await askDocumented(plane, method, path, {token, ...asked(method, path, 'somebody-else')})
        assert.equal(answer.body.code, 'node_identity_mismatch', path)
      }
    })

    it('foreign hosts', async () => {
      const headers = {host: 'evil.example'}
      for (const {method, path} of operations)
        assert.equal((await askDocumented(plane, method, path, {token: mesh, headers})).status, 403, path)
    })

    it('invalid JSON, other content types and too large bodies', async (t) => {
      const plane = await startPlane(t, {secrets, scope})
      for (const {method, path} of withBody) {
        const token = tokenFor(path)
        for (const body of ['{', '[]', '"text"', 'null', '\ufeff'])
          assert.equal((await askDocumented(plane, method, path, {token, body})).body.code, 'invalid_json', body)
        for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
          const headers = {'content-type': type}
          assert.equal((await askDocumented(plane, method, path, {token, body: '{}', headers})).status, 415, type)
        }
        assert.equal((await askDocumented(plane, method, path, {token, length: 524_289})).status, 413, path)
        if (path !== exchange) assert.equal((await askDocumented(plane, method, path, {token})).status, 400, path)
      }
    })

    it('files with an invalid digest or path, of another type, or too large', async (t) => {
      const type = {'content-type': 'application/octet-stream'}
      const put = (more: object) => askDocumented(plane, 'PUT', file, {token: worker, headers: type, ...more})
      const damaged = await put({body: 'x'})
      assert.deepEqual([damaged.status, damaged.body.code], [422, 'blob_damaged'])
      for (const sha256 of ['x', emptyFile.toUpperCase()])
        for (const method of ['PUT', 'GET', 'HEAD'])
          assert.equal(
            (await askDocumented(plane, method, file, {...asked(method, file), token: worker, sha256})).status,
            400,
          )
      assert.equal((await put({body: '{}', headers: {}})).status, 415)
      assert.equal((await put({length: maxBlobBytes + 1})).status, 413)
      const small = await startPlane(t, {secrets, limits: {maxScopeBlobBytes: 1024}})
      const stored = {token: worker, ...asked('PUT', file)}
      for (let i = 0; i < 2; i++) assert.equal((await askDocumented(small, 'PUT', file, stored)).status, 204)
      const more = Buffer.from('more')
      const full = await askDocumented(small, 'PUT', file, {...stored, body: more, sha256: sha256Of(more)})
      assert.deepEqual([full.status, full.body.code], [507, 'blobs_full'])
      for (const method of ['GET', 'HEAD'])
        assert.equal((await askDocumented(small, method, file, {token: worker, sha256: sha256Of(more)})).status, 404)
    })

    it('a node of 600 kB', async () => {
      const body = record('large', {scope_id: scope, advertised_models: [{text: 'x'.repeat(600_000)}]})
      const answer = await askDocumented(plane, 'POST', '/v1/mesh/join', {token: worker, body})
      assert.deepEqual([answer.status, answer.body.code], [413, 'body_too_large'])
    })

    it('missing and invalid members, with their names', async () => {
      for (const {method, path} of withBody) {
        const token = tokenFor(path)
        const whole = {...bodies[path]?.('n-1'), scope_id: scope}
        for (const name of Object.keys(bodies[path]?.('n-1') ?? {})) {
          const body = {...whole, [name]: {}}
          if (name === 'last_seen_unix_ms' || name === 'capabilities') continue
          assert.notEqual(violations(contract.bodySchema(path), body), '', name)
          const answer = await askDocumented(plane, method, path, {token, body})
          const code = name.endsWith('agent_id') ? 'invalid_agent_id' : 'missing_field'
          assert.deepEqual([answer.status, answer.body.code], [400, code], `${path} ${name}`)
          assert.match(answer.body.detail, new RegExp(name))
        }
      }
    })

    for (const [path, wrong, code] of [
      ['/v1/mesh/join', {version: undefined}, 'missing_field'],
      ['/v1/mesh/join', {capabilities: {cpu_cores: -1}}, 'missing_field'],
      ['/v1/mesh/join', {capabilities: {labels: ['a', 5]}}, 'missing_field'],
      ['/v1/mesh/join', {capabilities: {labels: Array(257).fill('x')}}, 'missing_field'],
      ['/v1/mesh/join', {visibility: 'secret'}, 'missing_field'],
      ['/v1/mesh/heartbeat', {cpu_usage_pct: 101}, 'missing_field'],
      ['/v1/mesh/heartbeat', {incarnation: 1.5}, 'missing_field'],
      ['/v1/mesh/heartbeat', {receiver_agent_id: 'me'}, 'invalid_agent_id'],
      ['/v1/mesh/exec/lease/grant', {scope_key: ''}, 'missing_field'],
      ['/v1/mesh/exec/lease/grant', {scope_key: 'x'.repeat(2049)}, 'scope_key_too_long'],
      ['/v1/mesh/exec/lease/verify', {scope_key: 'x'.repeat(2049)}, 'scope_key_too_long'],
      ['/v1/mesh/exec/lease/grant', {claimer_node_id: ' '}, 'missing_field'],
      ['/v1/mesh/a2a/deliver', {sender_agent_id: 'bad'}, 'invalid_agent_id'],
      ['/v1/mesh/a2a/deliver', {receiver_agent_id: ''}, 'invalid_agent_id'],
      ['/v1/mesh/a2a/deliver', {receiver_agent_id: '   '}, 'invalid_agent_id'],
      ['/v1/mesh/a2a/deliver', {receiver_agent_id: '18446744073709551616'}, 'invalid_agent_id'],
      ['/v1/mesh/a2a/deliver', {receiver_agent_id: undefined}, 'missing_field'],
      ['/v1/mesh/a2a/deliver', {priority: 256}, 'missing_field'],
      ['/v1/mesh/a2a/deliver', {payload: {}}, 'missing_field'],
      ['/v1/mesh/a2a/deliver', {traceparent: '00-1-2-3'}, 'missing_field'],
      ['/v1/mesh/a2a/deliver', {jwe_payload: 'a.b.c'}, 'missing_field'],
      ['/v1/mesh/a2a/deliver', {requirements: {min_vram_mb: '8'}}, 'missing_field'],
      ['/v1/mesh/a2a/deliver', {requirements: {labels: Array(20).fill('x'.repeat(250))}}, 'missing_field'],
      ['/v1/mesh/a2a/inbox', {exclude_message_ids: Array(257).fill(1)}, 'missing_field'],
      ['/v1/mesh/a2a/inbox', {exclude_sender_agent_ids: Array(65).fill('1')}, 'missing_field'],
      ['/v1/mesh/a2a/inbox', {exclude_sender_agent_ids: ['me']}, 'invalid_agent_id'],
      ['/v1/mesh/a2a/inbox', {wait_ms: -1}, 'missing_field'],
      ['/v1/mesh/a2a/inbox', {order: 'random'}, 'missing_field'],
    ] as const)
      it(`${JSON.stringify(wrong).slice(0, 50)} at ${path}`, async () => {
        const body = {...bodies[path]?.('n-1'), scope_id: scope, ...wrong}
        const {status, body: problem} = await askDocumented(plane, 'POST', path, {token: mesh, body})
        assert.deepEqual([status, problem.code], [400, code], problem.detail)
      })

    for (const query of ['limit=ten', 'limit=-1', 'cursor=not*one', 'fields=all', 'updated_since_unix_ms=now'])
      it(`the query ${query}`, async () => {
        for (const method of ['GET', 'HEAD'])
          assert.equal((await askDocumented(plane, method, '/v1/mesh/nodes', {token: mesh, query})).status, 400)
      })

    for (const path of ['/v1/mesh/a2a/dead', '/v1/mesh/admin/audit'])
      for (const query of ['limit=ten', 'limit=-1', 'cursor=not*one'])
        it(`the query ${query} at ${path}`, async () => {
          for (const method of ['GET', 'HEAD'])
            assert.equal((await askDocumented(plane, method, path, {token: mesh, query})).status, 400)
        })

    it('invalid attestations', async () => {
      const path = '/v1/mesh/a2a/deliver'
      const good = attested('{"ok":true}')
      const {worker_ed25519_sig_b64: _, ...half} = good as Record<string, unknown>
      for (const body of [half, {...good, message_type: 'free_form'}, {...good, payload: '{"ok":false}'}]) {
        const answer = await askDocumented(plane, 'POST', path, {token: submitter, body})
        assert.equal(answer.body.code, 'attestation_invalid')
      }
      assert.equal(resultKey.asymmetricKeyType, 'ed25519')
    })

    it('nodes of another scope or without one', async () => {
      for (const path of ['/v1/mesh/join', '/v1/mesh/heartbeat'])
        for (const scopeId of ['scope-b2', undefined]) {
          const body = record('n-1', {scope_id: scopeId})
          const answer = await askDocumented(plane, 'POST', path, {token: worker, body})
          assert.equal(answer.body.code, 'scope_mismatch')
        }
    })

    it('claims of unknown, quarantined and maintained nodes', async () => {
      await joined('shut-out')
      await joined('in-maintenance')
      await post(plane, '/v1/mesh/admin/quarantine', {node_id: 'shut-out', quarantined: true}, {token: admin})
      await post(plane, '/v1/mesh/admin/maintenance', {node_id: 'in-maintenance', maintenance: true}, {token: admin})
      const claimers = [
        ['unknown_node', 'nobody'],
        ['node_quarantined', 'shut-out'],
        ['node_maintenance', 'in-maintenance'],
      ] as const
      for (const {method, path} of withBody)
        for (const [code, node] of claimers) {
          if (!documented.includes(`POST ${path} 403 ${code}`)) continue
          const answer = await askDocumented(plane, method, path, {token: worker, ...asked(method, path, node)})
          assert.equal(answer.body.code, code, path)
        }
      // They get no message, but no error either.
      for (const node of ['shut-out', 'in-maintenance']) {
        const {body} = await post(
          plane,
          '/v1/mesh/a2a/inbox',
          {receiver_agent_id: '2', claimer_node_id: node},
          {token: worker},
        )
        assert.deepEqual(body, {messages: []})
      }
    })

    it('unknown nodes, leases and messages', async () => {
      await joined('seeker')
      const nowhere: Readonly<Record<string, object>> = {
        '/v1/mesh/heartbeat': {id: 'nobody', scope_id: scope},
        '/v1/mesh/leave': {id: 'nobody'},
        '/v1/mesh/exec/lease/renew': {lease_id: '99', claimer_node_id: 'seeker'},
        '/v1/mesh/exec/lease/release': {lease_id: 'none', claimer_node_id: 'seeker'},
        '/v1/mesh/exec/lease/verify': {lease_id: '99', scope_key: 'task:1'},
        '/v1/mesh/admin/exec-lease/revoke': {lease_id: '99'},
        '/v1/mesh/admin/quarantine': {node_id: 'nobody', quarantined: true},
        '/v1/mesh/admin/maintenance': {node_id: 'nobody', maintenance: true},
        '/v1/mesh/a2a/ack': {receiver_agent_id: '2', message_id: 9999},
        '/v1/mesh/a2a/lease-renew': {receiver_agent_id: '2', message_id: 9999, claimer_node_id: 'seeker'},
      }
      for (const [path, body] of Object.entries(nowhere))
        assert.equal((await post(plane, path, body, {token: mesh})).status, 404, path)
    })

    it('a promotion of a file', async () => {
      const answer = await post(plane, '/v1/mesh/admin/store/promote', {skip_tokens: 1_000_000}, {token: admin})
      assert.equal(answer.body.code, 'promotion_unsupported')
    })

    it('leases and messages held by another node', async () => {
      for (const node of ['first', 'second']) await joined(node)
      const grant = (node: string) =>
        post(plane, '/v1/mesh/exec/lease/grant', {scope_key: 'task:held', claimer_node_id: node}, {token: worker})
      const {body: lease} = await grant('first')
      assert.equal((await grant('second')).body.code, 'lease_held')
      const held = {lease_id: lease.lease_id, claimer_node_id: 'second'}
      for (const path of ['/v1/mesh/exec/lease/renew', '/v1/mesh/exec/lease/release'])
        assert.equal((await post(plane, path, held, {token: worker})).body.code, 'not_lease_holder')
      const {body: delivered} = await post(plane, '/v1/mesh/a2a/deliver', message({receiver_agent_id: '31'}), {
        token: submitter,
      })
      const claim = {receiver_agent_id: '31', claimer_node_id: 'first'}
      await post(plane, '/v1/mesh/a2a/inbox', claim, {token: worker})
      const theirs = {receiver_agent_id: '31', message_id: delivered.message_id, claimer_node_id: 'second'}
      for (const path of ['/v1/mesh/a2a/ack', '/v1/mesh/a2a/lease-renew'])
        assert.equal((await post(plane, path, theirs, {token: worker})).body.code, 'not_lease_holder')
    })

    it('the older of two processes with the same node id, with a warning header', async () => {
      await joined('twin', {incarnation: 10, seq: 0})
      await joined('twin', {incarnation: 20, seq: 0})
      const older = {scope_id: scope, incarnation: 10, seq: 9}
      for (const [path, body] of [
        ['/v1/mesh/join', record('twin', older)],
        ['/v1/mesh/heartbeat', {id: 'twin', ...older}],
      ] as const) {
        const {status, headers} = await post(plane, path, body, {token: worker})
        assert.deepEqual([status, headers['x-mesh-warning']], [409, 'duplicate-node-id'])
      }
    })

    it('a reused idempotency key with a different message', async () => {
      const path = '/v1/mesh/a2a/deliver'
      const keyed = (payload: string) => message({receiver_agent_id: '41', idempotency_key: 'same', payload})
      assert.equal((await post(plane, path, keyed('one'), {token: submitter})).status, 200)
      assert.equal((await post(plane, path, keyed('two'), {token: submitter})).status, 422)
    })

    it('deliveries to a full inbox', async (t) => {
      const small = await startPlane(t, {secrets, limits: {maxMessagesPerReceiver: 2}})
      const statuses: number[] = []
      for (let i = 0; i < 3; i++)
        statuses.push((await post(small, '/v1/mesh/a2a/deliver', message(), {token: submitter})).status)
      assert.deepEqual(statuses, [200, 200, 429])
      const {body} = await post(small, '/v1/mesh/a2a/inbox', {receiver_agent_id: '2'}, {token: worker})
      assert.equal(body.messages.length, 2)
    })

    it('a retry of more dead messages than the inbox can hold', async (t) => {
      let now = Date.now()
      const limits = {leaseMs: 1000, maxMessagesPerReceiver: 1}
      const small = await startPlane(t, {secrets, limits, storeTime: () => now})
      await post(small, '/v1/mesh/join', record('reader'), {token: worker})
      const claim = {receiver_agent_id: '2', claimer_node_id: 'reader'}
      const {body} = await post(small, '/v1/mesh/a2a/deliver', message(), {token: submitter})
      while ((await post(small, '/v1/mesh/a2a/inbox', claim, {token: worker})).body.messages.length > 0) now += 1000
      await post(small, '/v1/mesh/a2a/deliver', message(), {token: submitter})
      const retry = {message_ids: [body.message_id]}
      const full = await post(small, '/v1/mesh/a2a/dead/retry', retry, {token: admin})
      assert.deepEqual([full.status, full.body.code], [429, 'inbox_full'])
    })

    it('clients above the rate limit, except for health checks', async (t) => {
      const limited = await startPlane(t, {secrets, scope, rate: {perSecond: 0.01, burst: 1}})
      for (const {method, path} of operations) {
        if (path === '/health') continue
        // A separate client for each operation.
        const request = () => ({
          token: path === exchange ? bootstrap : tokenOfOwnWords('mesh', {sub: method + path}),
          ...asked(method, path),
        })
        await askDocumented(limited, method, path, request())
        const {status, headers} = await askDocumented(limited, method, path, request())
        assert.equal(status, 429, path)
        assert.ok(Number(headers['retry-after']) > 50, `Retry-After is ${headers['retry-after']}`)
        assert.equal((await askDocumented(limited, 'GET', '/health')).status, 200)
      }
    })

    it('all operations if the store fails', async () => {
      for (const [fault, status] of [
        [new SvcError('store_unavailable', {reason: 'its disk is full'}), 503],
        [new SvcError('store_outcome_unknown', {reason: 'db/mesh: Connection terminated'}), 504],
        [new TypeError('x is not a function'), 500],
      ] as const) {
        plane.trouble.fault = fault
        for (const {method, path} of operations) {
          const answer = await askDocumented(plane, method, path, {token: tokenFor(path), ...asked(method, path)})
          assert.equal(answer.status, path === '/health' ? 200 : status, `${method} ${path}`)
        }
        for (const method of ['GET', 'HEAD'])
          assert.equal((await askDocumented(plane, method, '/health', {query: 'ready=1'})).status, 503)
        plane.trouble.fault = undefined
      }
    })

    it('readiness, and nothing else, while running requests are finished', async (t) => {
      const stopping = await startPlane(t)
      const held = connect(stopping.port, '127.0.0.1')
      const body = JSON.stringify(record('n-1'))
      held.write(
        `POST /v1/mesh/join HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`,
      )
      await once(held, 'data')
      const ready = (method: string) => askDocumented(stopping, method, '/health', {query: 'ready=1'})
      assert.equal((await ready('GET')).status, 200)
      const closed = stopping.close(2 * timeoutMs)
      const {status, body: problem} = await ready('GET')
      assert.deepEqual([status, problem.code], [503, 'control_plane_stopping'])
      assert.equal((await ready('HEAD')).status, 503)
      for (const path of ['/health', '/v1/mesh/nodes'])
        assert.equal((await askDocumented(stopping, 'GET', path)).status, 200)
      const answered = once(held, 'data')
      held.write(body)
      assert.match(String(await answered), /^HTTP\/1\.1 200 OK/)
      await closed
      await assert.rejects(ask(stopping, 'GET', '/health'))
    })

    it('operations under overload, by rank', async () => {
      const shed = async (depth: number) => {
        plane.trouble.depth = depth
        const turnedAway: string[] = []
        for (const {method, path, operation} of operations) {
          const {status} = await askDocumented(plane, method, path, {
            token: tokenFor(path),
            ...(method === 'POST' ? {body: {bootstrap_token: 1}} : {}),
          })
          if (status === 503 && method !== 'HEAD') turnedAway.push(operation.operationId)
        }
        plane.trouble.depth = undefined
        return turnedAway.sort()
      }
      assert.deepEqual(await shed(2000), [])
      assert.deepEqual(await shed(2001), [
        'a2a_dead_list',
        'a2a_inbox',
        'admin_audit_list',
        'blob_get',
        'exec_lease_list',
        'list_nodes',
        'queue_stats',
      ])
      const alive = ['heartbeat', 'exec_lease_renew', 'exec_lease_release', 'a2a_ack', 'a2a_lease_renew', 'leave']
      const busy = await shed(8000)
      assert.deepEqual(
        alive.filter((operation) => busy.includes(operation)),
        [],
      )
      assert.ok(['join', 'a2a_deliver', 'blob_put', 'exec_lease_grant'].every((operation) => busy.includes(operation)))
      const all = Object.keys(routes).filter((operation) => !['health', 'metrics'].includes(operation))
      assert.deepEqual(await shed(8001), all.sort())
      // Metrics also fail if the table of used tokens is full.
      plane.trouble.fault = new SvcError('overloaded', {reason: 'Too many tokens are remembered.'})
      for (const method of ['GET', 'HEAD'])
        assert.equal((await askDocumented(plane, method, '/metrics', {token: tokenOfOwnWords('mesh')})).status, 503)
      plane.trouble.fault = undefined
    })

    it('attestations without a key, and bootstrap without a grantable token', async (t) => {
      const bare = await startPlane(t, {
        secrets: {bootstrapToken: secrets.bootstrapToken, submitterToken: submitter},
      })
      const signed = await post(bare, '/v1/mesh/a2a/deliver', attested('{}'), {token: submitter})
      assert.equal(signed.body.code, 'attestation_key_missing')
      const given = await post(bare, exchange, {}, {token: bootstrap})
      assert.equal(given.body.code, 'server_token_missing')
    })

    it('a consumed bootstrap token, but not after wrong guesses', async (t) => {
      const plane = await startPlane(t, {secrets, scope, bootstrapGrants: 'mesh'})
      const wrong = await askDocumented(plane, 'POST', exchange, {token: 'wrong-token', body: {}})
      assert.equal(wrong.body.code, 'bootstrap_invalid')
      const other = await post(plane, exchange, {bootstrap_token: 'another'}, {token: bootstrap})
      assert.equal(other.body.code, 'bootstrap_invalid')
      const twice = {bootstrap_token: bootstrap, node_id: 'new-node'}
      const {body} = await post(plane, exchange, twice, {token: bootstrap})
      assert.deepEqual(body, {mesh_token: mesh, role: 'mesh', scope_id: scope})
      assert.equal((await post(plane, exchange, twice, {token: bootstrap})).body.code, 'bootstrap_consumed')
      const brief = await startPlane(t, {secrets: {...secrets, bootstrapExpiresUnixMs: Date.now() + 600_000}})
      const lateMs = Date.now() + 600_000
      t.mock.method(Date, 'now', () => lateMs)
      const late = await askDocumented(brief, 'POST', exchange, {token: bootstrap})
      assert.equal(late.body.code, 'bootstrap_expired')
    })

    it('too many wrong bootstrap tokens', async (t) => {
      const guessed = await startPlane(t, {secrets})
      for (let i = 0; i < 10; i++)
        assert.equal((await askDocumented(guessed, 'POST', exchange, {token: `guess-${i}`, body: {}})).status, 401)
      const wrong = await askDocumented(guessed, 'POST', exchange, {token: 'one-more-guess', body: {}})
      assert.equal(wrong.body.code, 'rate_limited')
      assert.ok(Number(wrong.headers['retry-after']) >= 5)
      assert.equal((await askDocumented(guessed, 'POST', exchange, {token: bootstrap, body: {}})).status, 200)
    })
  })

  it('returns 404 for unknown routes and 400 for malformed paths', async () => {
    for (const token of [undefined, mesh])
      for (const path of ['/', '/v1', '/v1/mesh', '/v1/mesh/nothing', '/v1/mesh/exec/lease', '/v1/mesh/dispatch']) {
        const answer = await ask(plane, 'POST', path, {token})
        assert.equal(answer.status, 404, path)
        contract.assertResponse('RouteUnknown', 'POST', answer)
      }
    const malformed = await ask(plane, 'GET', '/v1/mesh/%E0%A4%A')
    assert.equal(malformed.status, 400)
    contract.assertResponse('PathMalformed', 'GET', malformed)
  })

  it('sends its features and the request id', async () => {
    for (const path of ['/health', '/v1/mesh/nodes', '/v1/mesh/nothing']) {
      const {headers} = await ask(plane, 'GET', path, {headers: {'x-request-id': 'walk-1'}})
      assert.deepEqual([headers['x-mesh-feature'], headers['x-request-id']], [features.join(','), 'walk-1'])
    }
  })

  it('has returned every documented status and code', () => {
    assert.deepEqual(
      documented.filter((answer) => !seen.has(answer)),
      skipWithoutPostgres ? ['POST /v1/mesh/admin/store/promote 200'] : [],
    )
  })
})
