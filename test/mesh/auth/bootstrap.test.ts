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

/** What a new node does: it shows its token, and asks for one that it can keep. */
async function join({secrets = worker, token = bootstrapToken, body = {}, store = tokenStore(), context}: Attempt) {
  const credentials = readCredentials(secrets, noon)
  const identity = {plane: 'bootstrap', store, scope: ''} as const
  const caller = await identify(credentials, `Bearer ${token}`, '10.0.0.7', identity)
  return exchangeBootstrap(credentials, caller, body, {store, wallClock: store.now, scope: '', ...context})
}

/** A request whose header was read, by the secrets of that moment; the exchange may find others. */
async function shown(secrets: MeshSecrets & {bootstrapToken: string}, store: TokenStore, wallClock = store.now) {
  const credentials = readCredentials(secrets, noon)
  const identity = {plane: 'bootstrap', store, scope: ''} as const
  const caller = await identify(credentials, `Bearer ${secrets.bootstrapToken}`, '10.0.0.7', identity)
  return (now: Credentials = credentials) => exchangeBootstrap(now, caller, {}, {store, wallClock, scope: ''})
}

describe('the exchange of a token for new nodes', () => {
  it('gives the token of a worker, once', async () => {
    const store = tokenStore()
    assert.deepEqual(await join({store}), {mesh_token: 'the-token-of-workers', role: 'worker', scope_id: null})
    assert.equal(await codeOf(() => join({store})), 'bootstrap_consumed')
  })

  it('gives the token of a submitter with it, and the scope', async () => {
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

  it('gives no token that is made from a key, which would end within the hour', async () => {
    const secrets = {...worker, jwtHmacSecret: 'a-secret-of-at-least-32-bytes-xxxx'}
    assert.deepEqual(await join({secrets}), {mesh_token: 'the-token-of-workers', role: 'worker', scope_id: null})
  })

  it('gives full access only where that was said', async () => {
    const secrets = {...worker, token: 'the-token-of-meshs', submitterToken: 'the-token-of-submitters'}
    const given = await join({secrets, context: {grants: 'mesh'}})
    assert.deepEqual(given, {mesh_token: 'the-token-of-meshs', role: 'mesh', scope_id: null})
  })

  it('takes the token in the body too, where it is the same', async () => {
    assert.equal((await join({body: {bootstrapToken}})).mesh_token, 'the-token-of-workers')
  })

  const refused: readonly [why: string, attempt: Attempt, code: string][] = [
    ['no token is configured', {secrets: {workerToken: 'the-token-of-workers'}}, 'bootstrap_disabled'],
    ['there is no secret at all', {secrets: {}}, 'bootstrap_disabled'],
    [
      'its end had passed when the server started',
      {secrets: {...worker, bootstrapExpiresUnixMs: noon}},
      'bootstrap_disabled',
    ],
    ['its end could not be read', {secrets: {...worker, bootstrapExpiresUnixMs: 0}}, 'bootstrap_disabled'],
    ['it is wrong', {token: 'another'}, 'bootstrap_invalid'],
    ['it is nearly right', {token: bootstrapToken.slice(0, -1)}, 'bootstrap_invalid'],
    ['it is the token of a role', {token: 'the-token-of-workers'}, 'bootstrap_invalid'],
    ['the body has another', {body: {bootstrapToken: 'another'}}, 'bootstrap_invalid'],
    ['the body has an empty one', {body: {bootstrapToken: ''}}, 'bootstrap_invalid'],
    [
      'the server has a key alone, whose tokens end within the hour',
      {secrets: {jwtHmacSecret: 'a-secret-of-at-least-32-bytes-xxxx', bootstrapToken}},
      'server_token_missing',
    ],
    [
      'the server has a key and the token of a submitter',
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
      'the server has none to give',
      {secrets: {adminToken: 'the-token-of-admins', bootstrapToken}},
      'server_token_missing',
    ],
    ['the server has none of full access, which it was to give', {context: {grants: 'mesh'}}, 'server_token_missing'],
  ]
  for (const [why, attempt, code] of refused)
    it(`is refused with ${code} where ${why}, and the token stays good`, async () => {
      const store = tokenStore()
      assert.equal(await codeOf(() => join({...attempt, store})), code)
      assert.equal((await join({store})).mesh_token, 'the-token-of-workers')
    })

  it('is refused from the moment at which the token ends', async () => {
    const store = tokenStore()
    const exchange = await shown(worker, store)
    store.clock.ms = noon + hour
    assert.equal(await codeOf(exchange), 'bootstrap_expired')
    store.clock.ms -= 1
    assert.equal(await codeOf(exchange), undefined)
  })

  it('goes by the clock of the machine, and is remembered for longer where that of the store is ahead', async () => {
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

  it('uses up no newer token where the secrets are replaced while it is under way', async () => {
    const store = tokenStore()
    const newer = {...worker, bootstrapToken: 'a-newer-token-for-new-nodes'}
    const exchange = await shown(worker, store)
    assert.equal(await codeOf(() => exchange(readCredentials(newer, noon))), 'bootstrap_invalid')
    assert.equal(await codeOf(await shown(newer, store)), undefined)
  })

  it('gives one of many that come at once, and the others nothing', async () => {
    const store = tokenStore()
    const answers = await Promise.all(Array.from({length: 20}, () => codeOf(() => join({store}))))
    assert.equal(answers.filter((code) => code === undefined).length, 1)
    assert.equal(answers.filter((code) => code === 'bootstrap_consumed').length, 19)
  })

  it('is nothing for a caller that was known by another token', async () => {
    const code = await codeOf(() =>
      exchangeBootstrap(readCredentials(worker, noon), {role: 'mesh', id: 'x'}, {}, {store: tokenStore(), scope: ''}),
    )
    assert.equal(code, 'bootstrap_invalid')
  })
})
