import {createPublicKey, type KeyObject, verify} from 'node:crypto'
import {SvcError} from '../../../errors/index.js'

/** Message with the attestation of its payload. */
export interface Attested {
  message_type: string
  payload: string
  payload_blake3_hex?: string | undefined
  worker_ed25519_sig_b64?: string | undefined
}

/** Types of messages whose payload can be attested. */
const attestable: ReadonlySet<string> = new Set(['job_result', 'job_fail'])

/** 32 bytes. */
const hexForm = /^[0-9a-f]{64}$/i
const keyForm = /^[A-Za-z0-9+/]{43}=$/
/** 64 bytes. */
const signatureForm = /^[A-Za-z0-9+/]{86}==$/

/** Parses an Ed25519 public key in hexadecimal or base64; undefined if it is neither. */
export function readResultKey(text: string | undefined): KeyObject | undefined {
  const bytes =
    text === undefined
      ? undefined
      : hexForm.test(text)
        ? Buffer.from(text, 'hex')
        : keyForm.test(text)
          ? Buffer.from(text, 'base64')
          : undefined
  return bytes && createPublicKey({key: {kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url')}, format: 'jwk'})
}

/**
 * Verifies a worker's signature of a result: Ed25519 over the 32-byte BLAKE3 digest of the UTF-8 payload. A message
 * without digest and signature is accepted.
 * @throws attestation_invalid, attestation_key_missing
 */
export async function verifyAttestation(key: KeyObject | undefined, message: Attested): Promise<void> {
  const {message_type: type, payload, payload_blake3_hex: digestHex, worker_ed25519_sig_b64: signature} = message
  if (digestHex === undefined && signature === undefined) return
  if (!attestable.has(type)) throw invalid(`messages of type ${type} cannot be attested`)
  if (digestHex === undefined) throw invalid('the digest is missing')
  if (signature === undefined) throw invalid('the signature is missing')
  if (!hexForm.test(digestHex)) throw invalid('the digest does not consist of 64 hexadecimal digits')
  if (!signatureForm.test(signature)) throw invalid('the signature does not consist of 64 bytes in base64')
  if (key === undefined) throw new SvcError('attestation_key_missing', {})
  const {blake3} = await import('@noble/hashes/blake3.js')
  const digest = blake3(Buffer.from(payload, 'utf8'))
  if (!Buffer.from(digestHex, 'hex').equals(digest)) throw invalid('the digest does not match the payload')
  if (!verify(null, digest, key, Buffer.from(signature, 'base64')))
    throw invalid('the signature does not match the digest')
}

const invalid = (reason: string) => new SvcError('attestation_invalid', {reason})
