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

/** Claims of a token that is taken. */
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

describe('a token that names its role', () => {
  const claims: readonly [what: string, claims: object, code: string | undefined][] = [
    ['is sound', sound, undefined],
    ['is of the role mesh', {...sound, role: 'mesh'}, undefined],
    ['is of the role admin', admin, undefined],
    ['names its role in another case, with blanks', {...sound, role: ' Worker '}, undefined],
    ['names no role', without('role'), 'unauthorized'],
    ['names the role bootstrap', {...sound, role: 'bootstrap'}, 'unauthorized'],
    ['names an unknown role', {...sound, role: 'root'}, 'unauthorized'],
    ['names a role of another type', {...sound, role: ['admin']}, 'unauthorized'],
    ['is for nobody', without('aud'), 'unauthorized'],
    ['is for another service', {...sound, aud: 'other'}, 'unauthorized'],
    ['is for several services, this one among them', {...sound, aud: ['other', 'svc-mesh']}, undefined],
    ['has no end', without('exp'), 'unauthorized'],
    ['has no beginning', without('iat'), 'unauthorized'],
    ['has an end of another type', {...sound, exp: `${now + 60}`}, 'unauthorized'],
    ['ended 29 s ago', {...sound, iat: now - 100, exp: now - 29}, undefined],
    ['ended 30 s ago', {...sound, iat: now - 100, exp: now - 30}, 'token_expired'],
    ['ended a day ago', {...sound, iat: now - 90_000, exp: now - 86_400}, 'token_expired'],
    ['was made in 30 s', {...sound, iat: now + 30, exp: now + 90}, undefined],
    ['was made in 31 s', {...sound, iat: now + 31, exp: now + 91}, 'token_expired'],
    ['begins in 30 s', {...sound, nbf: now + 30}, undefined],
    ['begins in 31 s', {...sound, nbf: now + 31}, 'token_expired'],
    ['lives for an hour', {...sound, exp: now + 3600}, undefined],
    ['lives for an hour and a second', {...sound, exp: now + 3601}, 'unauthorized'],
    ['lives for an hour by a beginning that is not yet', {...sound, iat: now + 3000, exp: now + 6000}, 'token_expired'],
    ['of a worker has no id', without('jti'), undefined],
    ['of an administrator has no id', {...admin, jti: undefined}, 'unauthorized'],
    ['of an administrator has a blank id', {...admin, jti: '  '}, 'unauthorized'],
    ['of an administrator has an id of another type', {...admin, jti: 7}, 'unauthorized'],
    ['of an administrator has an id without end', {...admin, jti: 'x'.repeat(257)}, 'unauthorized'],
    ['names a node', {...sound, sub: 'node-7'}, undefined],
    ['names a blank node', {...sound, sub: ''}, 'unauthorized'],
    ['names a node of another type', {...sound, sub: {id: 'node-7'}}, 'unauthorized'],
    ['names a scope where there is none', {...sound, scp: 'lab'}, 'scope_mismatch'],
  ]
  for (const [what, given, code] of claims)
    it(`${code === undefined ? 'is taken' : `is refused with ${code}`} where it ${what}`, async () => {
      assert.equal(await answer(signedToken(given, secret)), code)
    })

  const parts = signedToken(sound, secret).split('.')
  const {privateKey} = generateKeyPairSync('rsa', {modulusLength: 2048})
  const rsa = [Buffer.from('{"alg":"RS256"}').toString('base64url'), parts[1]].join('.')
  const forged: readonly [what: string, token: string][] = [
    ['has no signature, alg none', `${Buffer.from('{"alg":"none"}').toString('base64url')}.${parts[1]}.`],
    ['says none and is signed', signedToken(sound, secret, {header: {alg: 'none'}})],
    ['says NONE and is signed', signedToken(sound, secret, {header: {alg: 'NONE'}})],
    ['says RS256 and is signed by the secret', signedToken(sound, secret, {header: {alg: 'RS256'}})],
    ['is signed by an RSA key', `${rsa}.${createSign('sha256').update(rsa).sign(privateKey, 'base64url')}`],
    ['says ES256', signedToken(sound, secret, {header: {alg: 'ES256'}})],
    ['is of HS512', signedToken(sound, secret, {header: {alg: 'HS512'}, digest: 'sha512'})],
    ['is of HS384', signedToken(sound, secret, {header: {alg: 'HS384'}, digest: 'sha384'})],
    ['names no algorithm', signedToken(sound, secret, {header: {typ: 'JWT'}})],
    ['demands what nobody knows', signedToken(sound, secret, {header: {alg: 'HS256', crit: ['x'], x: 1}})],
    ['is signed by another key', signedToken(sound, `${secret}.`)],
    ['is signed by nothing', signedToken(sound, '')],
    [
      'has another body than was signed',
      [parts[0], Buffer.from(JSON.stringify(admin)).toString('base64url'), parts[2]].join('.'),
    ],
    ['has a signature cut short', parts.join('.').slice(0, -2)],
    ['has a fourth part', [...parts, 'x'].join('.')],
    ['has two parts', parts.slice(0, 2).join('.')],
    ['has a body that is no JSON', signedToken('x' as never, secret)],
    ['has a body that is a list', signedToken([], secret)],
  ]
  for (const [what, token] of forged)
    it(`is nobody's where it ${what}`, async () => {
      assert.equal(await answer(token), 'unauthorized')
    })

  it('says who it is: its role, its node and its scope', async () => {
    const token = signedToken({...sound, sub: 'node-7', scp: 'lab'}, secret)
    assert.deepEqual(await show(token, tokenStore(), 'lab'), {
      role: 'worker',
      node: 'node-7',
      scope: 'lab',
      id: 'worker/node-7',
    })
    assert.deepEqual(await show(signedToken(sound, secret)), {role: 'worker', id: 'worker@10.0.0.7'})
  })

  it('is of the scope of the control plane, or of none', async () => {
    const of = (scp?: string) => signedToken({...sound, scp}, secret)
    assert.equal(await answer(of('lab'), tokenStore(), 'lab'), undefined)
    assert.equal(await answer(of(), tokenStore(), 'lab'), undefined)
    assert.equal(await answer(of('laboratory'), tokenStore(), 'lab'), 'scope_mismatch')
  })

  for (const aheadMs of [-300_000, 300_000])
    it(`goes by the clock of the machine where that of the store is ${aheadMs} ms ahead`, async () => {
      const store = tokenStore()
      store.clock.ms = noon + aheadMs
      const {once} = await show(signedToken(admin, secret), store, '', () => noon)
      assert.equal(once?.keepUntilMs, noon + aheadMs + 120_000, 'it is kept by the clock that forgets it')
      const ended = {...admin, iat: now - 300, exp: now - 240}
      assert.equal(await codeOf(() => show(signedToken(ended, secret), store, '', () => noon)), 'token_expired')
    })

  it('speaks for its node alone, and for any where it names none', async () => {
    const bound = await show(signedToken({...sound, sub: 'node-7'}, secret))
    const free = await show(signedToken(sound, secret))
    assert.equal(await codeOf(() => requireNode(bound, 'node-7')), undefined)
    assert.equal(await codeOf(() => requireNode(bound, 'node-8')), 'node_identity_mismatch')
    assert.equal(await codeOf(() => requireNode(free, 'node-8')), undefined)
  })

  it('shows nothing of itself in the error that refuses it', async () => {
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

describe('a token that was used', () => {
  for (const [role, again] of [
    ['mesh', 'token_replayed'],
    ['admin', 'token_replayed'],
    ['worker', undefined],
    ['submitter', 'role_forbidden'],
  ] as const)
    it(`${again === undefined ? 'is taken' : `is refused with ${again}`} again where it is of the role ${role}`, async () => {
      const store = tokenStore()
      const token = signedToken({...sound, role}, secret)
      await answer(token, store)
      assert.equal(await answer(token, store), again)
    })

  it('of a submitter may deliver as often as it lives', async () => {
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

  it('is refused until nobody takes it any more, the leeway included', async () => {
    for (const exp of [now + 60, now + 60.5]) {
      const store = tokenStore()
      const token = signedToken({...admin, exp}, secret)
      assert.equal(await answer(token, store), undefined)
      const answers = new Set<string | undefined>()
      for (; store.clock.ms < (exp + 40) * 1000; store.clock.ms += 250) answers.add(await answer(token, store))
      assert.deepEqual([...answers], ['token_replayed', 'token_expired'])
    }
  })

  it('is told by its id, whatever else it says', async () => {
    const store = tokenStore()
    assert.equal(await answer(signedToken(admin, secret), store), undefined)
    assert.equal(await answer(signedToken({...admin, role: 'mesh', sub: 'node-7'}, secret), store), 'token_replayed')
    assert.equal(await answer(signedToken({...admin, jti: 'two'}, secret), store), undefined)
  })

  const refused: readonly [string, object, string][] = [
    ['its role is unknown', {...admin, role: 'root'}, 'unauthorized'],
    ['it has expired', {...admin, exp: now - 40}, 'token_expired'],
    ['it is for another service', {...admin, aud: 'other'}, 'unauthorized'],
    ['it lives for too long', {...admin, exp: now + 7200}, 'unauthorized'],
    ['it is of another scope', {...admin, scp: 'other'}, 'scope_mismatch'],
  ]
  for (const [why, given, code] of refused)
    it(`keeps its id where it was refused because ${why}`, async () => {
      const store = tokenStore()
      assert.equal(await answer(signedToken(given, secret), store), code)
      assert.equal(store.ids.size, 0)
      assert.equal(await answer(signedToken(admin, secret), store), undefined)
    })

  it('is not used up by finding out whose it is', async () => {
    const store = tokenStore()
    const token = signedToken(admin, secret)
    for (let time = 0; time < 3; time++) await show(token, store)
    assert.equal(store.ids.size, 0)
    assert.equal(await answer(token, store), undefined)
  })

  it('waits where no more ids can be kept', async () => {
    const store = Object.assign(tokenStore(), {room: 1})
    assert.equal(await answer(signedToken(admin, secret), store), undefined)
    assert.equal(await answer(signedToken({...admin, jti: 'two'}, secret), store), 'overloaded')
    assert.equal(await answer(signedToken(sound, secret), store), undefined)
  })
})

describe('a token that is minted', () => {
  it('is taken, with its node and its scope, and lives for a minute', async () => {
    const store = tokenStore()
    const token = await mintToken(secret, {role: 'admin', node: 'node-7', scope: 'lab', nowMs: noon})
    const {once, ...caller} = await show(token, store, 'lab')
    assert.deepEqual(caller, {role: 'admin', node: 'node-7', scope: 'lab', id: 'admin/node-7'})
    assert.deepEqual(once?.keepUntilMs, noon + 120_000)
    store.clock.ms += 90_000
    assert.equal(await answer(token, store, 'lab'), 'token_expired')
  })

  it('has an id of its own, for each request', async () => {
    const store = tokenStore()
    for (let request = 0; request < 3; request++)
      assert.equal(await answer(await mintToken(secret, {role: 'mesh', nowMs: noon}), store), undefined)
  })

  it('lives no longer than a control plane allows', async () => {
    assert.equal(await answer(await mintToken(secret, {role: 'worker', lifeSec: 1e6, nowMs: noon})), undefined)
  })
})
