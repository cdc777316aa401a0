import {sign} from 'node:crypto'
import {blake3} from '@noble/hashes/blake3.js'
import {resultKey} from './tokens.js'

/** Full record. */
export const record = (id: string, more: object = {}) => ({
  id,
  version: '0.1.0',
  last_seen_unix_ms: 1,
  capabilities: {gpu_cuda: true, cpu_cores: 16, min_vram_mb: 24_576, arch: 'x64', labels: ['pool=train']},
  ...more,
})

export const message = (more: object = {}) => ({
  sender_agent_id: '1',
  receiver_agent_id: '2',
  message_type: 'remote_task_envelope',
  payload: '{"task_id":42}',
  ...more,
})

/** Result with a valid attestation. */
export function attested(payload: string) {
  const digest = blake3(Buffer.from(payload))
  return message({
    message_type: 'job_result',
    payload,
    payload_blake3_hex: Buffer.from(digest).toString('hex'),
    worker_ed25519_sig_b64: sign(null, digest, resultKey).toString('base64'),
  })
}

/** Sample body of each operation that has one. */
export const bodies: Readonly<Record<string, (node: string) => object>> = {
  '/v1/mesh/join': (node) => record(node),
  '/v1/mesh/heartbeat': (node) => ({id: node}),
  '/v1/mesh/leave': (node) => ({id: node}),
  '/v1/mesh/bootstrap/exchange': () => ({}),
  '/v1/mesh/exec/lease/grant': (node) => ({scope_key: 'task:1', claimer_node_id: node}),
  '/v1/mesh/exec/lease/renew': (node) => ({lease_id: '1', claimer_node_id: node}),
  '/v1/mesh/exec/lease/release': (node) => ({lease_id: '1', claimer_node_id: node}),
  '/v1/mesh/exec/lease/verify': () => ({lease_id: '1', scope_key: 'task:1'}),
  '/v1/mesh/admin/exec-lease/revoke': () => ({lease_id: '1'}),
  '/v1/mesh/admin/quarantine': (node) => ({node_id: node, quarantined: false}),
  '/v1/mesh/admin/maintenance': (node) => ({node_id: node, maintenance: false}),
  '/v1/mesh/admin/store/promote': () => ({skip_tokens: 1_000_000}),
  '/v1/mesh/a2a/deliver': (node) => message({sender_node_id: node}),
  '/v1/mesh/a2a/inbox': (node) => ({receiver_agent_id: '9', claimer_node_id: node}),
  '/v1/mesh/a2a/ack': (node) => ({receiver_agent_id: '9', message_id: 1, claimer_node_id: node}),
  '/v1/mesh/a2a/dead/retry': () => ({message_ids: [1]}),
  '/v1/mesh/a2a/dead/drop': () => ({message_ids: [1]}),
  '/v1/mesh/a2a/lease-renew': (node) => ({receiver_agent_id: '9', message_id: 1, claimer_node_id: node}),
}
