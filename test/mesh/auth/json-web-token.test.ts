import assert from 'node:assert/strict'
import {createSign, generateKeyPairSync} from 'node:crypto'
import {describe, it} from 'node:test'
import {inspect} from 'node:util'
import {requireNode} from '../../../src/mesh/control-plane/auth/caller.js'
import {identify} from '../../../src/mesh/control-plane/auth/identify.js'
import {useUp} from '../../../src/mesh/control-plane/auth/json-web-token.js'
import {mintToken, readCredentials} from '../../../src/mesh/index.js'
import {signedToken} from './signed-token.js'
import {codeOf, noon, tokenStore} from './token-store.js'

const secret = 'canary-secret-of-the-tokens-32-bytes'
const credentials = readCredentials({jwtHmacSecret: secret})
const now = noon / 1000

/** Claims of a valid token. */
const sound = {role: 'worker', aud: 'svc-mesh', jti: 'one', iat: now, exp: now + 60}
const admin = {...sound, role: 'admin'}

const show = (token: string, store = tokenStore(), scope = '', wallClock = store.now) =>
  identify(credentials, `Bearer ${token}`, '10.0.0.7', {plane: 'worker', store, wallClock, scope})
const answer = (token: string, store = tokenStore(), scope = '') =>
  codeOf(async () => {
    const {once} = await show(token, store, scope)
    if (once !== undefined) await useUp(once, store)
  })

const without = (claim: string) => Object.fromEntries(Object.entries(sound).filter(([name]) => name !== claim))

describe('signed token', () => {
  const claims: readonly [what: string, claims: object, code: string | undefined][] = [
    ['is valid', sound, undefined],
    ['is of the role mesh', {...sound, role: 'mesh'}, undefined],
    ['is of the role admin', admin, undefined],
    ['names its role in another case, with blanks', {...sound, role: ' Worker '}, undefined],
    ['names no role', without('role'), 'unauthorized'],
    ['names the role bootstrap', {...sound, role: 'bootstrap'}, 'unauthorized'],
    ['names an unknown role', {...sound, role: 'root'}, 'unauthorized'],
    ['names a role of another type', {...sound, role: ['admin']}, 'unauthorized'],
    ['has no audience', without('aud'), 'unauthorized'],
    ['is for another service', {...sound, aud: 'other'}, 'unauthorized'],
    ['is for several services including this one', {...sound, aud: ['other', 'svc-mesh']}, undefined],
    ['has no exp', without('exp'), 'unauthorized'],
    ['has no iat', without('iat'), 'unauthorized'],
    ['has an exp of another type', {...sound, exp: `${now + 60}`}, 'unauthorized'],
    ['expired 29 s ago', {...sound, iat: now - 100, exp: now - 29}, undefined],
    ['expired 30 s ago', {...sound, iat: now - 100, exp: now - 30}, 'token_expired'],
    ['expired a day ago', {...sound, iat: now - 90_000, exp: now - 86_400}, 'token_expired'],
    ['was issued 30 s in the future', {...sound, iat: now + 30, exp: now + 90}, undefined],
    ['was issued 31 s in the future', {...sound, iat: now + 31, exp: now + 91}, 'token_expired'],
    ['is valid from 30 s in the future', {...sound, nbf: now + 30}, undefined],
    ['is valid from 31 s in the future', {...sound, nbf: now + 31}, 'token_expired'],
    ['has a lifetime of an hour', {...sound, exp: now + 3600}, undefined],
    ['has a lifetime of an hour and a second', {...sound, exp: now + 3601}, 'unauthorized'],
    [
      'has a lifetime of less than an hour by a future iat',
      {...sound, iat: now + 3000, exp: now + 6000},
      'token_expired',
    ],
    ['has no id and the role worker', without('jti'), undefined],
    ['has no id and the role admin', {...admin, jti: undefined}, 'unauthorized'],
    ['has a blank id and the role admin', {...admin, jti: '  '}, 'unauthorized'],
    ['has an id of another type and the role admin', {...admin, jti: 7}, 'unauthorized'],
    ['has a too long id and the role admin', {...admin, jti: 'x'.repeat(257)}, 'unauthorized'],
    ['names a node', {...sound, sub: 'node-7'}, undefined],
    ['names a blank node', {...sound, sub: ''}, 'unauthorized'],
    ['names a node of another type', {...sound, sub: {id: 'node-7'}}, 'unauthorized'],
    ['names a scope that does not exist', {...sound, scp: 'lab'}, 'scope_mismatch'],
  ]
  for (const [what, given, code] of claims)
    it(`${code === undefined ? 'is accepted' : `is refused with ${code}`} if it ${what}`, async () => {
      assert.equal(await answer(signedToken(given, secret)), code)
    })

  const parts = signedToken(sound, secret).split('.')
  const {privateKey} = generateKeyPairSync('rsa', {modulusLength: 2048})
  const rsa = [Buffer.from('{"alg":"RS256"}').toString('base64url'), parts[1]].join('.')
  const forged: readonly [what: string, token: string][] = [
    ['has alg none and no signature', `${Buffer.from('{"alg":"none"}').toString('base64url')}.${parts[1]}.`],
    ['has alg none but is signed', signedToken(sound, secret, {header: {alg: 'none'}})],
    ['has alg NONE but is signed', signedToken(sound, secret, {header: {alg: 'NONE'}})],
    ['has alg RS256 but is signed with the secret', signedToken(sound, secret, {header: {alg: 'RS256'}})],
    ['is signed with an RSA key', `${rsa}.${createSign('sha256').update(rsa).sign(privateKey, 'base64url')}`],
    ['has alg ES256', signedToken(sound, secret, {header: {alg: 'ES256'}})],
    ['has alg HS512', signedToken(sound, secret, {header: {alg: 'HS512'}, digest: 'sha512'})],
    ['has alg HS384', signedToken(sound, secret, {header: {alg: 'HS384'}, digest: 'sha384'})],
    ['has no alg', signedToken(sound, secret, {header: {typ: 'JWT'}})],
    ['has an unknown critical header', signedToken(sound, secret, {header: {alg: 'HS256', crit: ['x'], x: 1}})],
    ['is signed with another key', signedToken(sound, `${secret}.`)],
    ['is signed with an empty key', signedToken(sound, '')],
    ['has a modified body', [parts[0], Buffer.from(JSON.stringify(admin)).toString('base64url'), parts[2]].join('.')],
    ['has a truncated signature', parts.join('.').slice(0, -2)],
    ['has a fourth part', [...parts, 'x'].join('.')],
    ['has two parts', parts.slice(0, 2).join('.')],
    ['has a body that is not JSON', signedToken('x' as never, secret)],
    ['has a body that is a list', signedToken([], secret)],
  ]
  for (const [what, token] of forged)
    it(`is refused if it ${what}`, async () => {
      assert.equal(await answer(token), 'unauthorized')
    })

  it('identifies role, node and scope', async () => {
    const token = signedToken({...sound, sub: 'node-7', scp: 'lab'}, secret)
    assert.deepEqual(await show(token, tokenStore(), 'lab'), {
      role: 'worker',
      node: 'node-7',
      scope: 'lab',
      id: 'worker/node-7',
    })
    assert.deepEqual(await show(signedToken(sound, secret)), {role: 'worker', id: 'worker@10.0.0.7'})
  })

  it('must have the scope of the control plane or none', async () => {
    const of = (scp?: string) => signedToken({...sound, scp}, secret)
    assert.equal(await answer(of('lab'), tokenStore(), 'lab'), undefined)
    assert.equal(await answer(of(), tokenStore(), 'lab'), undefined)
    assert.equal(await answer(of('laboratory'), tokenStore(), 'lab'), 'scope_mismatch')
  })

  for (const aheadMs of [-300_000, 300_000])
    it(`is validated by the system clock if the store clock is ${aheadMs} ms ahead`, async () => {
      const store = tokenStore()
      store.clock.ms = noon + aheadMs
      const {once} = await show(signedToken(admin, secret), store, '', () => noon)
      assert.equal(once?.keepUntilMs, noon + aheadMs + 120_000, 'it is kept by the clock that forgets it')
      const ended = {...admin, iat: now - 300, exp: now - 240}
      assert.equal(await codeOf(() => show(signedToken(ended, secret), store, '', () => noon)), 'token_expired')
    })

  it('is restricted to its node, if it names one', async () => {
    const bound = await show(signedToken({...sound, sub: 'node-7'}, secret))
    const free = await show(signedToken(sound, secret))
    assert.equal(await codeOf(() => requireNode(bound, 'node-7')), undefined)
    assert.equal(await codeOf(() => requireNode(bound, 'node-8')), 'node_identity_mismatch')
    assert.equal(await codeOf(() => requireNode(free, 'node-8')), undefined)
  })

  it('is not revealed by the error that refuses it', async () => {
    const given = {...sound, jti: 'canary-id', sub: 'canary-node', exp: now - 3000, iat: now - 3001}
    for (const token of [signedToken(given, secret), signedToken(sound, 'canary-key'), 'canary.canary.canary']) {
      const error = await Promise.resolve(show(token)).then(
        () => assert.fail('it was taken'),
        (thrown: unknown) => thrown,
      )
      assert.doesNotMatch(inspect(error, {depth: 9, showHidden: true}), /canary-|eyJ/)
    }
  })
})

describe('used signed token', () => {
  for (const [role, again] of [
    ['mesh', 'token_replayed'],
    ['admin', 'token_replayed'],
    ['worker', undefined],
    ['submitter', 'role_forbidden'],
  ] as const)
    it(`with the role ${role} ${again === undefined ? 'is accepted again' : `is refused with ${again}`}`, async () => {
      const store = tokenStore()
      const token = signedToken({...sound, role}, secret)
      await answer(token, store)
      assert.equal(await answer(token, store), again)
    })

  it('of a submitter can deliver repeatedly', async () => {
    const store = tokenStore()
    const authorization = `Bearer ${signedToken({...sound, role: 'submitter'}, secret)}`
    for (let time = 0; time < 3; time++)
      await identify(credentials, authorization, '10.0.0.7', {
        plane: 'deliver',
        store,
        wallClock: store.now,
        scope: '',
      })
  })

  it('is remembered until its expiry plus leeway', async () => {
    for (const exp of [now + 60, now + 60.5]) {
      const store = tokenStore()
      const token = signedToken({...admin, exp}, secret)
      assert.equal(await answer(token, store), undefined)
      const answers = new Set<string | undefined>()
      for (; store.clock.ms < (exp + 40) * 1000; store.clock.ms += 250) answers.add(await answer(token, store))
      assert.deepEqual([...answers], ['token_replayed', 'token_expired'])
    }
  })

  it('is identified by its id alone', async () => {
    const store = tokenStore()
    assert.equal(await answer(signedToken(admin, secret), store), undefined)
    assert.equal(await answer(signedToken({...admin, role: 'mesh', sub: 'node-7'}, secret), store), 'token_replayed')
    assert.equal(await answer(signedToken({...admin, jti: 'two'}, secret), store), undefined)
  })

  const refused: readonly [string, object, string][] = [
    ['its role is unknown', {...admin, role: 'root'}, 'unauthorized'],
    ['it has expired', {...admin, exp: now - 40}, 'token_expired'],
    ['it is for another service', {...admin, aud: 'other'}, 'unauthorized'],
    ['its lifetime is too long', {...admin, exp: now + 7200}, 'unauthorized'],
    ['it is of another scope', {...admin, scp: 'other'}, 'scope_mismatch'],
  ]
  for (const [why, given, code] of refused)
    it(`does not consume its id if refused because ${why}`, async () => {
      const store = tokenStore()
      assert.equal(await answer(signedToken(given, secret), store), code)
      assert.equal(store.ids.size, 0)
      assert.equal(await answer(signedToken(admin, secret), store), undefined)
    })

  it('is not consumed by its identification', async () => {
    const store = tokenStore()
    const token = signedToken(admin, secret)
    for (let time = 0; time < 3; time++) await show(token, store)
    assert.equal(store.ids.size, 0)
    assert.equal(await answer(token, store), undefined)
  })

  it('is refused with overloaded if the limit of ids is reached', async () => {
    const store = Object.assign(tokenStore(), {room: 1})
    assert.equal(await answer(signedToken(admin, secret), store), undefined)
    assert.equal(await answer(signedToken({...admin, jti: 'two'}, secret), store), 'overloaded')
    assert.equal(await answer(signedToken(sound, secret), store), undefined)
  })
})

describe('mintToken', () => {
  it('creates a valid token with node and scope and a lifetime of one minute', async () => {
    const store = tokenStore()
    const token = await mintToken(secret, {role: 'admin', node: 'node-7', scope: 'lab', nowMs: noon})
    const {once, ...caller} = await show(token, store, 'lab')
    assert.deepEqual(caller, {role: 'admin', node: 'node-7', scope: 'lab', id: 'admin/node-7'})
    assert.deepEqual(once?.keepUntilMs, noon + 120_000)
    store.clock.ms += 90_000
    assert.equal(await answer(token, store, 'lab'), 'token_expired')
  })

  it('creates a unique id for each token', async () => {
    const store = tokenStore()
    for (let request = 0; request < 3; request++)
      assert.equal(await answer(await mintToken(secret, {role: 'mesh', nowMs: noon}), store), undefined)
  })

  it('limits the lifetime to the maximum', async () => {
    assert.equal(await answer(await mintToken(secret, {role: 'worker', lifeSec: 1e6, nowMs: noon})), undefined)
  })
})
