import assert from 'node:assert/strict'
import {hkdfSync} from 'node:crypto'
import {describe, it} from 'node:test'
import {CompactEncrypt} from 'jose'
import {openSecrets, sealSecrets} from '../../../src/mesh/index.js'

const key = 'k'.repeat(32)
const secrets = {DEPLOY_KEY: 'open sesame'}

/** The documented derivation, as another program would implement it. */
const derived = (text: string) => new Uint8Array(hkdfSync('sha256', text, '', 'svc mesh secretbox v1', 32))

const encrypt = (header: {alg: string; enc: string; kid?: string}, text: string) =>
  new CompactEncrypt(new TextEncoder().encode(text)).setProtectedHeader(header).encrypt(derived(key))

describe('the secrets of a delegated task', () => {
  it('are a compact JWE with a direct key, different each time', async () => {
    const jwe = await sealSecrets(key, secrets)
    const [header = '', wrapped, ...rest] = jwe.split('.')
    assert.deepEqual(JSON.parse(Buffer.from(header, 'base64url').toString()), {alg: 'dir', enc: 'A256GCM'})
    assert.deepEqual([wrapped, rest.length], ['', 3])
    assert.notEqual(await sealSecrets(key, secrets), jwe)
    assert.deepEqual(await openSecrets(key, jwe), secrets)
  })

  it('can be encrypted by another program with the same key', async () => {
    const jwe = await encrypt({alg: 'dir', enc: 'A256GCM'}, JSON.stringify(secrets))
    assert.deepEqual(await openSecrets(key, jwe), secrets)
  })

  for (const [defect, jwe] of [
    ['another key', () => sealSecrets('o'.repeat(32), secrets)],
    [
      'a changed byte',
      async () => (await sealSecrets(key, secrets)).replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A')),
    ],
    ['another header', () => encrypt({alg: 'dir', enc: 'A256GCM', kid: 'x'}, JSON.stringify(secrets))],
    ['a list', () => encrypt({alg: 'dir', enc: 'A256GCM'}, '["open sesame"]')],
    ['no JSON', () => encrypt({alg: 'dir', enc: 'A256GCM'}, 'open sesame')],
    ['no JWE', async () => 'open sesame'],
  ] as const)
    it(`are refused with ${defect}, without a word of them`, async () => {
      await assert.rejects(openSecrets(key, await jwe()), (error: Error & {code: string}) => {
        assert.equal(error.code, 'secretbox_unusable')
        assert.doesNotMatch(`${error.message} ${error.stack}`, /sesame/)
        return true
      })
    })

  it('need a key of at least 32 bytes', async () => {
    await assert.rejects(sealSecrets(undefined, secrets), {code: 'secretbox_unusable', message: /is not set/})
    await assert.rejects(sealSecrets('short', secrets), {code: 'secretbox_unusable', message: /has 5 bytes/})
  })
})
