import assert from 'node:assert/strict'
import {generateKeyPairSync, sign} from 'node:crypto'
import {describe, it} from 'node:test'
import {type Attested, readResultKey, verifyAttestation} from '../../../src/mesh/control-plane/auth/attestation.js'
import {readCredentials} from '../../../src/mesh/index.js'
import {codeOf} from './token-store.js'

/** BLAKE3 of `abc`, from the test vectors of other implementations. */
const digest = '6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85'
const {privateKey, publicKey} = generateKeyPairSync('ed25519')
const raw = Buffer.from(publicKey.export({format: 'jwk'}).x ?? '', 'base64url')
const signed = (bytes: Uint8Array) => sign(null, bytes, privateKey).toString('base64')

const result: Attested = {
  message_type: 'job_result',
  payload: 'abc',
  payload_blake3_hex: digest,
  worker_ed25519_sig_b64: signed(Buffer.from(digest, 'hex')),
}

const other = generateKeyPairSync('ed25519').publicKey

describe('attestation of a result', () => {
  const messages: readonly [what: string, message: Attested, code: string | undefined][] = [
    ['is valid', result, undefined],
    ['is valid and of a failure', {...result, message_type: 'job_fail'}, undefined],
    ['has a digest in upper case', {...result, payload_blake3_hex: digest.toUpperCase()}, undefined],
    ['is missing', {message_type: 'job_result', payload: 'abc'}, undefined],
    ['is missing on another message type', {message_type: 'free_form', payload: 'abc'}, undefined],
    ['is on another message type', {...result, message_type: 'remote_task_result'}, 'attestation_invalid'],
    ['lacks the digest', {...result, payload_blake3_hex: undefined}, 'attestation_invalid'],
    ['lacks the signature', {...result, worker_ed25519_sig_b64: undefined}, 'attestation_invalid'],
    ['is of another payload', {...result, payload: 'abd'}, 'attestation_invalid'],
    ['has another digest', {...result, payload_blake3_hex: digest.replace('6', '7')}, 'attestation_invalid'],
    ['has a truncated digest', {...result, payload_blake3_hex: digest.slice(2)}, 'attestation_invalid'],
    [
      'signs the text of the digest',
      {...result, worker_ed25519_sig_b64: signed(Buffer.from(digest))},
      'attestation_invalid',
    ],
    [
      'signs the payload itself',
      {...result, worker_ed25519_sig_b64: signed(Buffer.from('abc'))},
      'attestation_invalid',
    ],
    ['has a signature that is not base64', {...result, worker_ed25519_sig_b64: '%%%'}, 'attestation_invalid'],
    ['has an empty signature', {...result, worker_ed25519_sig_b64: ''}, 'attestation_invalid'],
  ]
  for (const [what, message, code] of messages)
    it(`is ${code === undefined ? 'accepted' : 'rejected'} if it ${what}`, async () => {
      assert.equal(await codeOf(() => verifyAttestation(publicKey, message)), code)
    })

  it('is rejected with the key of another worker', async () => {
    assert.equal(await codeOf(() => verifyAttestation(other, result)), 'attestation_invalid')
  })

  it('requires a key, unless it is malformed or missing', async () => {
    assert.equal(await codeOf(() => verifyAttestation(undefined, result)), 'attestation_key_missing')
    const unsigned = {...result, worker_ed25519_sig_b64: undefined}
    assert.equal(await codeOf(() => verifyAttestation(undefined, unsigned)), 'attestation_invalid')
    assert.equal(await codeOf(() => verifyAttestation(undefined, {message_type: 'job_result', payload: ''})), undefined)
  })

  for (const [form, text] of [
    ['64 hexadecimal digits', raw.toString('hex')],
    ['upper-case hexadecimal digits', raw.toString('hex').toUpperCase()],
    ['base64', raw.toString('base64')],
  ] as const)
    it(`is verified with a key in ${form}`, async () => {
      const {resultKey} = readCredentials({workerResultVerifyKey: text})
      assert.equal(await codeOf(() => verifyAttestation(resultKey, result)), undefined)
    })

  for (const text of ['', 'abc', raw.toString('hex').slice(2), raw.toString('base64url'), `${raw.toString('base64')}=`])
    it(`rejects the key ${JSON.stringify(text)}`, () => {
      assert.equal(readResultKey(text), undefined)
    })
})
