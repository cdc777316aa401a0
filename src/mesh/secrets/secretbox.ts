import {hkdfSync} from 'node:crypto'
import {isObject} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'

/** Minimum length of the shared secret, bytes. */
const minBytes = 32
/** The only header that is made and accepted: the key is shared in advance. */
const header = {alg: 'dir', enc: 'A256GCM'} as const

/**
 * Encrypts the secrets of a delegated task as a JWE in compact serialisation.
 * @param key shared secret of both machines, from which the key is derived with HKDF-SHA-256
 * @throws secretbox_unusable
 */
export async function sealSecrets(key: string | undefined, secrets: Readonly<Record<string, string>>): Promise<string> {
  const derived = deriveKey(key)
  const {CompactEncrypt} = await import('jose')
  const text = new TextEncoder().encode(JSON.stringify(secrets))
  return new CompactEncrypt(text).setProtectedHeader(header).encrypt(derived)
}

/**
 * Decrypts secrets that another machine has encrypted with the same key.
 * @throws secretbox_unusable, which contains nothing of the secrets
 */
export async function openSecrets(key: string | undefined, jwe: string): Promise<Readonly<Record<string, unknown>>> {
  const derived = deriveKey(key)
  const {compactDecrypt} = await import('jose')
  try {
    const {plaintext, protectedHeader} = await compactDecrypt(jwe, derived, {
      keyManagementAlgorithms: [header.alg],
      contentEncryptionAlgorithms: [header.enc],
    })
    if (Object.keys(protectedHeader).length !== Object.keys(header).length) throw new TypeError('unknown header')
    const secrets: unknown = JSON.parse(new TextDecoder().decode(plaintext))
    if (!isObject(secrets)) throw new TypeError('no object')
    return secrets as Readonly<Record<string, unknown>>
  } catch {
    throw new SvcError('secretbox_unusable', {reason: 'they were encrypted with another key, or have been changed'})
  }
}

function deriveKey(key: string | undefined): Uint8Array {
  if (key === undefined) throw new SvcError('secretbox_unusable', {reason: 'SVC_MESH_SECRETBOX_KEY is not set'})
  const bytes = Buffer.byteLength(key)
  if (bytes < minBytes)
    throw new SvcError('secretbox_unusable', {
      reason: `SVC_MESH_SECRETBOX_KEY has ${bytes} bytes; the minimum is ${minBytes}`,
    })
  return new Uint8Array(hkdfSync('sha256', key, '', 'svc mesh secretbox v1', 32))
}
