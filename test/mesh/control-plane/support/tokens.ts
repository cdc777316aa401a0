import {generateKeyPairSync, randomUUID} from 'node:crypto'
import type {MeshSecrets} from '../../../../src/mesh/control-plane/auth/credentials.js'
import {signedToken} from '../../auth/signed-token.js'

const worker = generateKeyPairSync('ed25519')

/** Signs the digests of results. */
export const resultKey = worker.privateKey

/** A secret of every kind. */
export const secrets = {
  token: 'token-of-the-mesh',
  adminToken: 'token-of-an-admin',
  workerToken: 'token-of-a-worker',
  submitterToken: 'token-of-a-submitter',
  jwtHmacSecret: 'a secret that is at least thirty-two bytes long',
  bootstrapToken: 'token-for-new-nodes',
  workerResultVerifyKey: Buffer.from(worker.publicKey.export({format: 'jwk'}).x ?? '', 'base64url').toString('hex'),
} as const satisfies MeshSecrets

/** The opaque token of each role. */
export const tokenOf = {
  mesh: secrets.token,
  admin: secrets.adminToken,
  worker: secrets.workerToken,
  submitter: secrets.submitterToken,
  bootstrap: secrets.bootstrapToken,
} as const

/** A JWT of a role, good for a minute unless its claims say otherwise. */
export function tokenOfOwnWords(role: 'mesh' | 'admin' | 'worker' | 'submitter', claims: object = {}): string {
  const now = Math.floor(Date.now() / 1000)
  const whole = {role, aud: 'svc-mesh', jti: randomUUID(), iat: now, exp: now + 60, ...claims}
  return signedToken(whole, secrets.jwtHmacSecret)
}
