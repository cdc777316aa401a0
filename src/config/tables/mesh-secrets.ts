import {settings} from '../setting.js'
import {integer, type SettingType, text} from '../types.js'

/** 32 bytes, as 64 hexadecimal digits or base64. */
const publicKeyForm = /^([0-9a-f]{64}|[A-Z0-9+/]{43}=)$/i

const publicKey = (expected: string): SettingType<string> => ({
  ...text(expected),
  parse: (value) => (publicKeyForm.test(value) ? value : undefined),
})

/**
 * Credentials that a control plane accepts and that its clients send. The token of the role `mesh` is in
 * `meshSettings`.
 */
export const meshSecretSettings = settings('mesh', () => ({
  workerToken: {
    type: text('a token'),
    env: ['SVC_MESH_WORKER_TOKEN'],
    secret: true,
    doc: 'Token of worker nodes, which join, hold leases and read their inboxes.',
  },
  submitterToken: {
    type: text('a token'),
    env: ['SVC_MESH_SUBMITTER_TOKEN'],
    secret: true,
    doc: 'Token of submitters, which can only deliver messages.',
  },
  adminToken: {
    type: text('a token'),
    env: ['SVC_MESH_ADMIN_TOKEN'],
    secret: true,
    doc: 'Token of administrators, who can quarantine nodes, set maintenance and revoke leases.',
  },
  jwtHmacSecret: {
    type: text('a secret of at least 32 bytes'),
    env: ['SVC_MESH_JWT_HMAC_SECRET'],
    secret: true,
    doc: 'Secret key of HS256 tokens; each token names its role and its node.',
  },
  secretboxKey: {
    type: text('a secret of at least 32 bytes'),
    env: ['SVC_MESH_SECRETBOX_KEY'],
    secret: true,
    doc: 'Secret key that encrypts the secrets of delegated tasks; the same on the submitting and the working machine.',
  },
  bootstrapToken: {
    type: text('a token'),
    env: ['SVC_MESH_BOOTSTRAP_TOKEN'],
    secret: true,
    doc: 'One-time token that a new node exchanges for a permanent token.',
  },
  bootstrapExpiresUnixMs: {
    type: integer({min: 0}),
    env: ['SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS'],
    doc: 'Expiry time of the bootstrap token, in Unix milliseconds.',
  },
  workerResultVerifyKey: {
    type: publicKey('an Ed25519 public key, 64 hexadecimal digits or base64'),
    env: ['SVC_MESH_WORKER_RESULT_VERIFY_KEY'],
    doc: 'Public key that verifies the signatures of results.',
  },
}))
