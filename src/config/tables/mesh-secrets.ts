import {settings} from '../setting.js'
import {integer, type SettingType, text} from '../types.js'

/** 32 bytes, as 64 hexadecimal digits or base64. */
const publicKeyForm = /^([0-9a-f]{64}|[A-Z0-9+/]{43}=)$/i

const publicKey = (expected: string): SettingType<string> => ({
  ...text(expected),
  parse: (value) => (publicKeyForm.test(value) ? value : undefined),
})

/**
 * What a control plane lets its clients in by, and what they show to it. The token of the role `mesh` is among the
 * settings of the mesh.
 */
export const meshSecretSettings = settings('mesh', () => ({
  workerToken: {
    type: text('a token'),
    env: ['SVC_MESH_WORKER_TOKEN'],
    secret: true,
    doc: 'Token of nodes that take work: they join, hold leases, and read their inboxes.',
  },
  submitterToken: {
    type: text('a token'),
    env: ['SVC_MESH_SUBMITTER_TOKEN'],
    secret: true,
    doc: 'Token of programs that deliver messages, and do nothing else.',
  },
  adminToken: {
    type: text('a token'),
    env: ['SVC_MESH_ADMIN_TOKEN'],
    secret: true,
    doc: 'Token of administrators: quarantine, maintenance, and the revoking of leases.',
  },
  jwtHmacSecret: {
    type: text('a secret of at least 32 bytes'),
    env: ['SVC_MESH_JWT_HMAC_SECRET'],
    secret: true,
    doc: 'Key of HS256 tokens, which name their role and the node that they are for.',
  },
  bootstrapToken: {
    type: text('a token'),
    env: ['SVC_MESH_BOOTSTRAP_TOKEN'],
    secret: true,
    doc: 'Token that a new node exchanges, once, for one it can keep.',
  },
  bootstrapExpiresUnixMs: {
    type: integer({min: 0}),
    env: ['SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS'],
    doc: 'When the token for new nodes ends, in Unix milliseconds.',
  },
  workerResultVerifyKey: {
    type: publicKey('an Ed25519 public key, 64 hexadecimal digits or base64'),
    env: ['SVC_MESH_WORKER_RESULT_VERIFY_KEY'],
    doc: 'Key that signatures of results are verified with.',
  },
}))
