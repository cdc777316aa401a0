import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {exchangeBootstrap} from '../../../src/mesh/control-plane/auth/bootstrap.js'
import {identify} from '../../../src/mesh/control-plane/auth/identify.js'
import {useUp} from '../../../src/mesh/control-plane/auth/json-web-token.js'
import {mintToken, readCredentials} from '../../../src/mesh/index.js'
import {openSqliteMeshStore} from '../../../src/mesh/store/sqlite/open.js'
import {temporaryFolder} from '../../support/temporary.js'
import {signedToken} from './signed-token.js'
import {codeOf} from './token-store.js'

const secret = 'a-secret-of-the-tokens-of-32-bytes'
const limits = {leaseMs: 120_000, maxMessages: 100, maxMessagesPerReceiver: 100}
const secrets = {jwtHmacSecret: secret, workerToken: 'token-of-a-worker', bootstrapToken: 'token-for-new-nodes'}

/** Opens the same database with one control plane after another. */
async function controlPlanes(test: TestContext) {
  const path = join(await temporaryFolder(test), 'mesh.db')
  return async (work: (store: Awaited<ReturnType<typeof openSqliteMeshStore>>) => Promise<void>) => {
    const store = await openSqliteMeshStore(path, limits)
    try {
      await work(store)
    } finally {
      await store.close()
    }
  }
}

describe('restarted control plane', () => {
  it('refuses used single-use tokens, even after their expiry', async (test) => {
    const run = await controlPlanes(test)
    const credentials = readCredentials(secrets)
    const now = Math.floor(Date.now() / 1000)
    const claims = {role: 'admin', aud: 'svc-mesh', iat: now - 60}
    const tokens = [
      await mintToken(secret, {role: 'mesh'}),
      await mintToken(secret, {role: 'admin'}),
      signedToken({...claims, jti: 'in-the-leeway', exp: now - 5}, secret),
    ]
    const ask = (token: string, store: Parameters<Parameters<typeof run>[0]>[0]) =>
      codeOf(async () => {
        const identity = {plane: 'admin', store, scope: ''} as const
        const {once} = await identify(credentials, `Bearer ${token}`, '10.0.0.7', identity)
        if (once !== undefined) await useUp(once, store)
      })
    await run(async (store) => {
      for (const token of tokens) assert.equal(await ask(token, store), undefined)
      await store.purge()
      for (const token of tokens) assert.equal(await ask(token, store), 'token_replayed')
    })
    await run(async (store) => {
      await store.purge()
      for (const token of tokens) assert.equal(await ask(token, store), 'token_replayed')
      assert.equal(await ask(await mintToken(secret, {role: 'admin'}), store), undefined)
    })
  })

  for (const [what, bootstrapExpiresUnixMs] of [
    ['without expiry', undefined],
    ['with expiry', Date.now() + 3_600_000],
  ] as const)
    it(`refuses a used bootstrap token ${what}`, async (test) => {
      const run = await controlPlanes(test)
      const credentials = readCredentials({...secrets, bootstrapExpiresUnixMs})
      const exchange = async (store: Parameters<Parameters<typeof run>[0]>[0], scope: string) => {
        const caller = await identify(credentials, `Bearer ${secrets.bootstrapToken}`, '10.0.0.7', {
          plane: 'bootstrap',
          store,
          scope,
        })
        return exchangeBootstrap(credentials, caller, {}, {store, scope})
      }
      await run(async (store) => {
        assert.deepEqual(await exchange(store, 'lab'), {
          mesh_token: secrets.workerToken,
          role: 'worker',
          scope_id: 'lab',
        })
        assert.equal(await codeOf(() => exchange(store, 'lab')), 'bootstrap_consumed')
      })
      await run(async (store) => {
        await store.purge()
        assert.equal(await codeOf(() => exchange(store, 'lab')), 'bootstrap_consumed')
        assert.equal(await codeOf(() => exchange(store, '')), 'bootstrap_consumed')
      })
    })
})
