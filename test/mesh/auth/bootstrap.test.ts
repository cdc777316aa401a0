import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {
  type BootstrapContext,
  type BootstrapRequest,
  exchangeBootstrap,
} from '../../../src/mesh/control-plane/auth/bootstrap.js'
import {identify} from '../../../src/mesh/control-plane/auth/identify.js'
import {type Credentials, type MeshSecrets, readCredentials} from '../../../src/mesh/index.js'
import {codeOf, noon, type TokenStore, tokenStore} from './token-store.js'

const hour = 3_600_000
const bootstrapToken = 'the-token-for-new-nodes'
const worker = {workerToken: 'the-token-of-workers', bootstrapToken, bootstrapExpiresUnixMs: noon + hour}

interface Attempt {
  secrets?: MeshSecrets
  token?: string
  body?: BootstrapRequest
  store?: TokenStore
  context?: Partial<BootstrapContext>
}

/** Exchanges a bootstrap token like a new node. */
async function join({secrets = worker, token = bootstrapToken, body = {}, store = tokenStore(), context}: Attempt) {
  const credentials = readCredentials(secrets, noon)
  const identity = {plane: 'bootstrap', store, scope: ''} as const
  const caller = await identify(credentials, `Bearer ${token}`, '10.0.0.7', identity)
  return exchangeBootstrap(credentials, caller, body, {store, wallClock: store.now, scope: '', ...context})
}

/** An identified request, whose exchange can run with other credentials. */
async function shown(secrets: MeshSecrets & {bootstrapToken: string}, store: TokenStore, wallClock = store.now) {
  const credentials = readCredentials(secrets, noon)
  const identity = {plane: 'bootstrap', store, scope: ''} as const
  const caller = await identify(credentials, `Bearer ${secrets.bootstrapToken}`, '10.0.0.7', identity)
  return (now: Credentials = credentials) => exchangeBootstrap(now, caller, {}, {store, wallClock, scope: ''})
}

describe('bootstrap exchange', () => {
  it('grants the worker token once', async () => {
    const store = tokenStore()
    assert.deepEqual(await join({store}), {mesh_token: 'the-token-of-workers', role: 'worker', scope_id: null})
    assert.equal(await codeOf(() => join({store})), 'bootstrap_consumed')
  })

  it('also grants the submitter token and returns the scope', async () => {
    const secrets = {
      ...worker,
      submitterToken: 'the-token-of-submitters',
      token: 'the-token-of-meshs',
      adminToken: 'the-token-of-admins',
    }
    assert.deepEqual(await join({secrets, context: {scope: 'lab'}}), {
      mesh_token: 'the-token-of-workers',
      submitter_token: 'the-token-of-submitters',
      role: 'worker',
      scope_id: 'lab',
    })
  })

  it('never grants a signed token', async () => {
    const secrets = {...worker, jwtHmacSecret: 'a-secret-of-at-least-32-bytes-xxxx'}
    assert.deepEqual(await join({secrets}), {mesh_token: 'the-token-of-workers', role: 'worker', scope_id: null})
  })

  it('grants the mesh token only if configured', async () => {
    const secrets = {...worker, token: 'the-token-of-meshs', submitterToken: 'the-token-of-submitters'}
    const given = await join({secrets, context: {grants: 'mesh'}})
    assert.deepEqual(given, {mesh_token: 'the-token-of-meshs', role: 'mesh', scope_id: null})
  })

  it('accepts an equal token in the body', async () => {
    assert.equal((await join({body: {bootstrapToken}})).mesh_token, 'the-token-of-workers')
  })

  const refused: readonly [why: string, attempt: Attempt, code: string][] = [
    ['no token is configured', {secrets: {workerToken: 'the-token-of-workers'}}, 'bootstrap_disabled'],
    ['there are no secrets', {secrets: {}}, 'bootstrap_disabled'],
    ['the token had expired at the start', {secrets: {...worker, bootstrapExpiresUnixMs: noon}}, 'bootstrap_disabled'],
    ['the expiry is unparsable', {secrets: {...worker, bootstrapExpiresUnixMs: 0}}, 'bootstrap_disabled'],
    ['the token is wrong', {token: 'another'}, 'bootstrap_invalid'],
    ['the token is truncated', {token: bootstrapToken.slice(0, -1)}, 'bootstrap_invalid'],
    ['the token is a role token', {token: 'the-token-of-workers'}, 'bootstrap_invalid'],
    ['the body has another token', {body: {bootstrapToken: 'another'}}, 'bootstrap_invalid'],
    ['the body has an empty token', {body: {bootstrapToken: ''}}, 'bootstrap_invalid'],
    [
      'the server has only a signing key',
      {secrets: {jwtHmacSecret: 'a-secret-of-at-least-32-bytes-xxxx', bootstrapToken}},
      'server_token_missing',
    ],
    [
      'the server has a signing key and a submitter token',
      {
        secrets: {
          jwtHmacSecret: 'a-secret-of-at-least-32-bytes-xxxx',
          submitterToken: 'the-token-of-submitters',
          bootstrapToken,
        },
      },
      'server_token_missing',
    ],
    [
      'the server has no token to grant',
      {secrets: {adminToken: 'the-token-of-admins', bootstrapToken}},
      'server_token_missing',
    ],
    ['the server has no mesh token to grant', {context: {grants: 'mesh'}}, 'server_token_missing'],
  ]
  for (const [why, attempt, code] of refused)
    it(`fails with ${code} if ${why}, without consuming the token`, async () => {
      const store = tokenStore()
      assert.equal(await codeOf(() => join({...attempt, store})), code)
      assert.equal((await join({store})).mesh_token, 'the-token-of-workers')
    })

  it('fails from the expiry of the token on', async () => {
    const store = tokenStore()
    const exchange = await shown(worker, store)
    store.clock.ms = noon + hour
    assert.equal(await codeOf(exchange), 'bootstrap_expired')
    store.clock.ms -= 1
    assert.equal(await codeOf(exchange), undefined)
  })

  it('uses the system clock, and is remembered longer if the store clock is ahead', async () => {
    const store = tokenStore()
    const kept: number[] = []
    const {useBootstrap} = store
    store.useBootstrap = (scope, digest, use) => {
      kept.push(use.expiresMs)
      return useBootstrap(scope, digest, use)
    }
    store.clock.ms = noon + hour
    assert.equal(await codeOf(await shown(worker, store, () => noon + hour - 1)), undefined)
    assert.deepEqual(kept, [noon + hour + 1])
    store.clock.ms = noon
    assert.equal(await codeOf(await shown(worker, store, () => noon + hour)), 'bootstrap_expired')
  })

  it('does not consume a new token after a reload', async () => {
    const store = tokenStore()
    const newer = {...worker, bootstrapToken: 'a-newer-token-for-new-nodes'}
    const exchange = await shown(worker, store)
    assert.equal(await codeOf(() => exchange(readCredentials(newer, noon))), 'bootstrap_invalid')
    assert.equal(await codeOf(await shown(newer, store)), undefined)
  })

  it('succeeds for one of many concurrent requests', async () => {
    const store = tokenStore()
    const answers = await Promise.all(Array.from({length: 20}, () => codeOf(() => join({store}))))
    assert.equal(answers.filter((code) => code === undefined).length, 1)
    assert.equal(answers.filter((code) => code === 'bootstrap_consumed').length, 19)
  })

  it('fails for a caller identified by another token', async () => {
    const code = await codeOf(() =>
      exchangeBootstrap(readCredentials(worker, noon), {role: 'mesh', id: 'x'}, {}, {store: tokenStore(), scope: ''}),
    )
    assert.equal(code, 'bootstrap_invalid')
  })
})
