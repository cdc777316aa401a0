import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {parseEnv} from 'node:util'
import {jwtVerify} from 'jose'
import {createKeyring} from '../../src/prove/server/keyring.js'

const secretOf = (file: string) => new TextEncoder().encode(parseEnv(file).SVC_MESH_JWT_HMAC_SECRET)

describe('keyring', () => {
  it('creates new tokens in each generation and lists all of them as secrets', () => {
    const keyring = createKeyring('prove')
    const [first, second] = [keyring.add(), keyring.add()]
    const text = (generation: number) => keyring.textOf({role: 'worker', generation}, undefined, 0)
    assert.notEqual(text(first), text(second))
    const secrets = [...keyring.secrets().values()]
    assert.ok([text(first), text(second)].every((token) => token !== undefined && secrets.includes(token)))
  })

  it('writes the secrets file of the server', () => {
    const keyring = createKeyring('prove')
    const file = parseEnv(keyring.environmentFile(keyring.add()))
    assert.equal(file.SVC_MESH_ADMIN_TOKEN, keyring.textOf({role: 'admin', generation: 0}, undefined, 0))
    assert.ok(Number(file.SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS) > Date.now())
    const expired = parseEnv(keyring.environmentFile(keyring.add({isBootstrapExpired: true})))
    assert.ok(Number(expired.SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS) < Date.now())
  })

  it('writes the secrets file of a program, and recognises its tokens', () => {
    const keyring = createKeyring('prove')
    keyring.add()
    const tokens = parseEnv(keyring.programFile(keyring.add()))
    assert.deepEqual(Object.keys(tokens).sort(), ['SVC_MESH_SUBMITTER_TOKEN', 'SVC_MESH_WORKER_TOKEN'])
    assert.deepEqual(keyring.credentialOf(tokens.SVC_MESH_SUBMITTER_TOKEN), {role: 'submitter', generation: 1})
    assert.equal(keyring.credentialOf('other').role, 'garbage')
    assert.equal(keyring.credentialOf(undefined).role, 'none')
  })

  it('signs tokens that verify and start with the listed header', async () => {
    const keyring = createKeyring('prove')
    const file = keyring.environmentFile(keyring.add())
    const shown = {role: 'admin', generation: 0, signed: {id: 'one', isForeign: false}} as const
    const token = keyring.textOf(shown, 'node-1', Date.now()) ?? ''
    const {payload, protectedHeader} = await jwtVerify(token, secretOf(file), {audience: 'svc-mesh'})
    assert.equal(protectedHeader.alg, 'HS256')
    assert.deepEqual([payload.role, payload.jti, payload.sub, payload.scp], ['admin', 'one', 'node-1', 'prove'])
    assert.ok(token.startsWith(keyring.secrets().get('signed') ?? 'nothing'))
  })
})
