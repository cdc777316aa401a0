import {generateKeyPairSync, randomUUID} from 'node:crypto'
import type {MeshSecrets} from '../../../../src/mesh/control-plane/auth/credentials.js'
import {signedToken} from '../../auth/signed-token.js'

const worker = generateKeyPairSync('ed25519')

/** Key that signs the digests of results. */
export const resultKey = worker.privateKey

/** Secrets of every kind. */
export const secrets = {
  token: 'token-of-the-mesh',
  adminToken: 'token-of-an-admin',
  workerToken: 'token-of-a-worker',
  submitterToken: 'token-of-a-submitter',
  jwtHmacSecret: 'a secret that is at least thirty-two bytes long',
  bootstrapToken: 'token-for-new-nodes',
  workerResultVerifyKey: Buffer.from(worker.publicKey.export({format: 'jwk'}).x ?? '', 'base64url').toString('hex'),
} as const satisfies MeshSecrets

/** Opaque token of each role. */
export const tokenOf = {
  mesh: secrets.token,
  admin: secrets.adminToken,
  worker: secrets.workerToken,
  submitter: secrets.submitterToken,
  bootstrap: secrets.bootstrapToken,
} as const

/** Creates a JWT of a role, by default with a lifetime of one minute. */
export function tokenOfOwnWords(role: 'mesh' | 'admin' | 'worker' | 'submitter', claims: object = {}): string {
  const now = Math.floor(Date.now() / 1000)
  const whole = {role, aud: 'svc-mesh', jti: randomUUID(), iat: now, exp: now + 60, ...claims}
  return signedToken(whole, secrets.jwtHmacSecret)
}
