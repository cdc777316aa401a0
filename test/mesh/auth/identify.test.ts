import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {identify, wrongBootstrapTokens} from '../../../src/mesh/control-plane/auth/identify.js'
import {
  type Credentials,
  type MeshOperation,
  type MeshSecrets,
  mintToken,
  readCredentials,
  routes,
} from '../../../src/mesh/index.js'
import {createRateLimit} from '../../../src/net/index.js'
import {codeOf, noon, tokenStore} from './token-store.js'

const secretsOf = (generation: string) =>
  ({
    token: `mesh-${generation}`,
    workerToken: `worker-${generation}`,
    submitterToken: `submitter-${generation}`,
    adminToken: `admin-${generation}`,
    jwtHmacSecret: `a-secret-of-at-least-32-bytes-for-${generation}`,
    bootstrapToken: `bootstrap-${generation}`,
  }) satisfies MeshSecrets

const bearers = ['mesh', 'admin', 'worker', 'submitter', 'bootstrap', 'unknown', 'none'] as const
type Bearer = (typeof bearers)[number]

/** Expected refusals by bearer for groups of operations; permitted bearers are omitted. */
const matrix: readonly {operations: MeshOperation[]; answers: Partial<Record<Bearer, string>>}[] = [
  {
    operations: [
      'metrics',
      'list_nodes',
      'join',
      'heartbeat',
      'leave',
      'queue_stats',
      'a2a_inbox',
      'a2a_ack',
      'a2a_lease_renew',
      'exec_lease_grant',
      'exec_lease_renew',
      'exec_lease_release',
      'exec_lease_verify',
    ],
    answers: {submitter: 'role_forbidden', bootstrap: 'unauthorized', unknown: 'unauthorized', none: 'unauthorized'},
  },
  {
    operations: ['a2a_deliver'],
    answers: {worker: 'role_forbidden', bootstrap: 'unauthorized', unknown: 'unauthorized', none: 'unauthorized'},
  },
  {
    operations: ['blob_put', 'blob_get'],
    answers: {bootstrap: 'unauthorized', unknown: 'unauthorized', none: 'unauthorized'},
  },
  {
    operations: [
      'exec_lease_list',
      'admin_exec_lease_revoke',
      'admin_quarantine',
      'admin_maintenance',
      'admin_store_promote',
      'admin_audit_list',
      'a2a_dead_list',
      'a2a_dead_retry',
      'a2a_dead_drop',
    ],
    answers: {
      worker: 'role_forbidden',
      submitter: 'role_forbidden',
      bootstrap: 'unauthorized',
      unknown: 'unauthorized',
      none: 'unauthorized',
    },
  },
  {
    operations: ['bootstrap_exchange'],
    answers: {
      mesh: 'bootstrap_invalid',
      admin: 'bootstrap_invalid',
      worker: 'bootstrap_invalid',
      submitter: 'bootstrap_invalid',
      unknown: 'bootstrap_invalid',
      none: 'bootstrap_invalid',
    },
  },
]

const headerOf = (bearer: Bearer, generation: string) =>
  bearer === 'none' ? undefined : `Bearer ${bearer}-${generation}`

function ask(
  credentials: Credentials,
  operation: MeshOperation,
  authorization: string | undefined,
  store = tokenStore(),
) {
  const {plane} = routes[operation]
  return identify(credentials, authorization, '10.0.0.7', {plane, store, wallClock: store.now, scope: ''})
}

describe('permissions of routes', () => {
  it('are tested for every authenticated route', () => {
    const said = matrix.flatMap(({operations}) => operations).sort()
    const all = (Object.keys(routes) as MeshOperation[]).filter((operation) => operation !== 'health').sort()
    assert.deepEqual(said, all)
  })

  const first = readCredentials(secretsOf('first-generation'), noon)
  const second = readCredentials(secretsOf('second-generation'), noon)
  for (const {operations, answers} of matrix)
    for (const operation of operations) {
      for (const bearer of bearers)
        it(`${operation} with ${bearer}: ${answers[bearer] ?? 'permitted'}, before and after a reload`, async () => {
          for (const [credentials, generation] of [
            [first, 'first-generation'],
            [second, 'second-generation'],
          ] as const) {
            const header = headerOf(bearer, generation)
            assert.equal(await codeOf(() => ask(credentials, operation, header)), answers[bearer])
          }
        })

      it(`${operation} refuses tokens from before a reload`, async () => {
        const refusal = operation === 'bootstrap_exchange' ? 'bootstrap_invalid' : 'unauthorized'
        for (const bearer of bearers)
          assert.equal(
            await codeOf(() => ask(second, operation, headerOf(bearer, 'first-generation'))),
            refusal,
            bearer,
          )
        const old = await mintToken(secretsOf('first-generation').jwtHmacSecret, {role: 'mesh', nowMs: noon})
        assert.equal(await codeOf(() => ask(second, operation, `Bearer ${old}`)), refusal)
      })

      for (const role of ['mesh', 'admin', 'worker', 'submitter'] as const)
        it(`${operation} treats a signed ${role} token like an opaque one`, async () => {
          const token = await mintToken(secretsOf('first-generation').jwtHmacSecret, {role, nowMs: noon})
          assert.equal(await codeOf(() => ask(first, operation, `Bearer ${token}`)), answers[role])
        })
    }
})

describe('Authorization header', () => {
  const credentials = readCredentials(secretsOf('of-one-mesh'), noon)
  const headers: readonly [string | undefined, boolean][] = [
    ['Bearer worker-of-one-mesh', true],
    ['bearer worker-of-one-mesh', true],
    ['BEARER   worker-of-one-mesh  ', true],
    ['bEaReR\tworker-of-one-mesh', true],
    ['Bearerworker-of-one-mesh', false],
    ['Basic worker-of-one-mesh', false],
    ['worker-of-one-mesh', false],
    ['Bearer', false],
    ['Bearer ', false],
    ['Bearer worker-of-one-mesh mesh-of-one-mesh', false],
    ['', false],
    [undefined, false],
  ]
  for (const [header, known] of headers)
    it(`${known ? 'is accepted' : 'is refused'}: ${JSON.stringify(header)}`, async () => {
      const code = await codeOf(() => ask(credentials, 'heartbeat', header))
      assert.equal(code, known ? undefined : 'unauthorized')
    })

  it('with an opaque token is identified synchronously by role and address', () => {
    assert.deepEqual(ask(credentials, 'heartbeat', 'Bearer worker-of-one-mesh'), {
      role: 'worker',
      id: 'worker@10.0.0.7',
    })
  })

  it('with a signed token is refused without a signing key', async () => {
    const {jwtHmacSecret, ...rest} = secretsOf('of-one-mesh')
    const token = await mintToken(jwtHmacSecret, {role: 'mesh', nowMs: noon})
    assert.equal(await codeOf(() => ask(readCredentials(rest), 'heartbeat', `Bearer ${token}`)), 'unauthorized')
  })
})

describe('control plane without secrets', () => {
  const open = readCredentials({})
  for (const operation of Object.keys(routes) as MeshOperation[]) {
    const answer = operation === 'bootstrap_exchange' ? 'bootstrap_disabled' : undefined
    it(`${answer === undefined ? `permits ${operation}` : `refuses ${operation} with ${answer}`}`, async () => {
      for (const header of [undefined, 'Bearer anything'])
        assert.equal(await codeOf(() => ask(open, operation, header)), answer)
    })
  }
})

describe('wrong bootstrap tokens', () => {
  const credentials = readCredentials(secretsOf('of-one-mesh'), noon)
  const store = tokenStore()
  const wrongTokens = createRateLimit(wrongBootstrapTokens)
  const exchange = (token: string, address: string) =>
    codeOf(() => identify(credentials, `Bearer ${token}`, address, {plane: 'bootstrap', store, scope: '', wrongTokens}))

  it('are rate-limited after ten attempts from one address', async () => {
    for (let tries = 0; tries < 10; tries++) assert.equal(await exchange('wrong', '10.0.0.1'), 'bootstrap_invalid')
    assert.equal(await exchange('wrong', '10.0.0.1'), 'rate_limited')
    assert.equal(await exchange('wrong', '10.0.0.2'), 'bootstrap_invalid')
    store.clock.ms += 6000
    assert.equal(await exchange('wrong', '10.0.0.1'), 'bootstrap_invalid')
    assert.equal(await exchange('wrong', '10.0.0.1'), 'rate_limited')
  })

  it('do not block the valid token from the same address', async () => {
    for (let tries = 0; tries < 12; tries++) await exchange('wrong', '10.0.0.4')
    assert.equal(await exchange('wrong', '10.0.0.4'), 'rate_limited')
    assert.equal(await exchange('bootstrap-of-one-mesh', '10.0.0.4'), undefined)
  })

  it('are counted only if wrong', async () => {
    for (let tries = 0; tries < 30; tries++)
      assert.equal(await exchange('bootstrap-of-one-mesh', '10.0.0.3'), undefined)
  })
})
