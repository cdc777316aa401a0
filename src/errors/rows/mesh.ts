import {conflict, failed, notFound, rows, unavailable, usage} from '../row.js'

/** An error answer of the control plane, as a client received it. */
export interface Refusal {
  /** `join`, `exec_lease_grant`. */
  operation: string
  status: number
  /** Problem code, if the control plane sent one. */
  problem?: string | undefined
  detail?: string | undefined
}

/** A sentence as a part of another one. */
const withoutStop = (sentence: string) => `${sentence}`.replace(/\.$/, '')

const refusalMessage = ({operation, status, problem, detail}: Refusal) =>
  `The control plane answered ${operation} with ${problem ?? status}${detail ? `: ${withoutStop(detail)}` : ''}.`

/** Errors of the mesh: of the control plane, which sends them as problem details, and of its clients. */
export const meshErrors = rows(() => ({
  missing_field: usage({
    message: (p: {field: string; expected: string}) => `The field ${p.field} must be ${p.expected}.`,
    hint: 'Correct the field and send the request again. Nothing was changed.',
    param: (p: {field: string}) => p.field,
  }),
  invalid_agent_id: usage({
    message: (p: {field: string}) => `The field ${p.field} must be the number of an agent, in decimal digits.`,
    hint: 'Send a string of 1 to 20 digits.',
    param: (p: {field: string}) => p.field,
  }),
  scope_key_too_long: usage({
    message: (p: {limit: number}) => `The scope key is longer than ${p.limit} bytes.`,
    hint: 'Use a shorter key, for example task:UUID.',
  }),
  attestation_invalid: usage({
    message: (p: {reason: string}) => `Invalid attestation: ${p.reason}.`,
    hint: 'Sign the BLAKE3 digest of the payload with the private key that matches the public key of the control plane.',
  }),
  token_expired: conflict({
    http: 401,
    message: () => 'The token has expired, or is not valid yet.',
    hint: 'Create a new token, and check the clock of the machine that created it.',
  }),
  token_replayed: conflict({
    http: 401,
    message: () => 'The token was used before. It is valid for one request.',
    hint: 'Create a new token with a unique jti for each administrator request.',
  }),
  bootstrap_invalid: conflict({
    http: 401,
    message: () => 'The bootstrap token is missing or invalid.',
    hint: 'Use the token that svc mesh init printed. A failed attempt does not consume it.',
  }),
  role_forbidden: conflict({
    http: 403,
    message: (p: {role: string}) => `The role ${p.role} does not permit this operation.`,
    hint: 'Use a token of another role: worker for nodes, submitter to deliver messages, admin for everything.',
  }),
  scope_mismatch: conflict({
    http: 403,
    message: () => 'Scope mismatch: the node and the control plane have different scopes.',
    hint: 'Set the same SVC_MESH_SCOPE_ID for all processes of the mesh.',
  }),
  unknown_node: conflict({
    http: 403,
    message: (p: {node: string}) => `The node ${p.node} has not joined.`,
    hint: 'Join the mesh first, with svc mesh join.',
  }),
  node_quarantined: conflict({
    http: 403,
    message: (p: {node: string}) => `The node ${p.node} is quarantined.`,
    hint: 'An administrator can end the quarantine with svc mesh admin quarantine.',
  }),
  node_maintenance: conflict({
    http: 403,
    message: (p: {node: string}) => `The node ${p.node} is in maintenance and accepts no new work.`,
    hint: 'Wait for its deadline, or ask an administrator to end it with svc mesh admin maintenance.',
  }),
  node_identity_mismatch: conflict({
    http: 403,
    message: (p: {node: string}) => `The token belongs to another node, not to ${p.node}.`,
    hint: 'Use the token that was issued to this node.',
  }),
  node_not_found: notFound({
    message: (p: {node: string}) => `Node not found: ${p.node}.`,
    hint: 'Run svc mesh nodes to list the nodes.',
  }),
  lease_not_found: notFound({
    message: (p: {lease: string}) => `Lease not found: ${p.lease}. It may have expired.`,
    hint: 'Stop the work that the lease protects, and request a new lease.',
  }),
  dead_message_not_found: notFound({
    message: (p: {message: number}) => `Dead letter not found: ${p.message}.`,
    hint: 'Run svc mesh dead list to list the dead letters.',
  }),
  bootstrap_disabled: notFound({
    message: () => 'This control plane has no bootstrap token.',
    hint: "Create one with svc mesh init in the control plane's workspace, and restart the control plane.",
  }),
  lease_held: conflict({
    message: (p: {scopeKey: string}) => `Another node holds the lease on ${p.scopeKey}.`,
    hint: 'Wait until the lease is released or expires.',
  }),
  not_lease_holder: conflict({
    message: (p: {what: string}) => `Another node holds ${p.what}.`,
    hint: 'Stop working on it; this node no longer holds it.',
  }),
  duplicate_node_id: conflict({
    message: (p: {node: string}) => `A newer process has joined as ${p.node}.`,
    hint: 'Set a different SVC_MESH_NODE_ID for each process.',
  }),
  bootstrap_consumed: conflict({
    http: 410,
    message: () => 'The bootstrap token was already used. It is valid once.',
    hint: 'Create a new one with svc mesh init --bootstrap.',
  }),
  bootstrap_expired: conflict({
    http: 410,
    message: () => 'The bootstrap token has expired.',
    hint: 'Create a new one with svc mesh init --bootstrap.',
  }),
  idempotency_key_reused: conflict({
    http: 422,
    message: (p: {message: number}) =>
      `The idempotency key was used for message ${p.message}, which has different content.`,
    hint: 'Use another key for a different message. Nothing was stored.',
  }),
  inbox_full: unavailable({
    http: 429,
    message: (p: {limit: number}) => `The inbox is full: ${p.limit} messages are waiting.`,
    hint: 'Retry after some messages were acknowledged.',
  }),
  store_unavailable: unavailable({
    message: (p: {reason: string}) => `The control plane cannot write its store: ${p.reason}.`,
    hint: 'Retry later. Nothing of the request was stored.',
  }),
  attestation_key_missing: unavailable({
    message: () => 'The control plane has no key to verify signed results.',
    hint: 'Set SVC_MESH_WORKER_RESULT_VERIFY_KEY for the control plane, or send the result unsigned.',
  }),
  server_token_missing: unavailable({
    message: () => 'The control plane has no token to issue to new nodes.',
    hint: 'Set SVC_MESH_WORKER_TOKEN for the control plane, for example with svc mesh init.',
  }),
  mesh_unprotected: usage({
    http: 500,
    message: (p: {host: string}) => `A control plane on ${p.host} without tokens would be open to other machines.`,
    hint: 'Create tokens with svc mesh init, listen on 127.0.0.1, or pass --insecure.',
  }),
  mesh_tokens_equal: usage({
    http: 500,
    message: (p: {first: string; second: string}) => `${p.first} and ${p.second} have the same value.`,
    hint: 'Use a different token for each role; svc mesh init creates them.',
  }),
  mesh_secret_weak: usage({
    http: 500,
    message: (p: {variable: string; least: string}) => `${p.variable} is shorter than ${p.least}.`,
    hint: 'Use a random secret, for example from openssl rand -base64 32.',
  }),
  mesh_exists: conflict({
    message: (p: {path: string}) => `${p.path} already contains mesh secrets.`,
    hint: 'Use another directory, or replace them with --force, which invalidates all tokens in use.',
  }),
  mesh_secrets_overruled: usage({
    http: 500,
    message: (p: {variables: readonly string[]}) =>
      `The environment sets ${p.variables.join(', ')}, which would override the issued tokens.`,
    hint: 'Unset it and join again. The bootstrap token was not consumed.',
  }),
  mesh_secrets_ignored: usage({
    http: 500,
    message: (p: {fault: string}) => `The secrets of the control plane cannot be used: ${withoutStop(p.fault)}.`,
    hint: 'Fix this, or pass --insecure to run without authentication.',
  }),
  mesh_rejected: usage({
    http: 502,
    message: refusalMessage,
    hint: 'Correct the request; the control plane rejected it.',
  }),
  mesh_denied: conflict({
    http: 502,
    message: refusalMessage,
    hint: 'Check the token, its role, the state of the node, and who holds the lease or message.',
  }),
  mesh_missing: notFound({
    http: 502,
    message: refusalMessage,
    hint: 'Check the id; the object may have expired.',
  }),
  mesh_unavailable: unavailable({
    http: 502,
    message: refusalMessage,
    hint: 'Retry later. Safe requests were already retried.',
  }),
  mesh_token_missing: conflict({
    http: 502,
    message: (p: {operation: string; variables: readonly string[]}) =>
      `${p.operation} requires a token, and this machine has no suitable one.`,
    hint: (p: {variables: readonly string[]}) =>
      `Set ${p.variables.join(' or ')} to the control plane's value, or join with svc mesh join --bootstrap.`,
  }),
  control_plane_missing: unavailable({
    http: 502,
    message: (p: {url: string; reason: string}) => `No control plane answers at ${p.url}: ${p.reason}.`,
    hint: 'Check --control-url, SVC_MESH_CONTROL_ADDR, or control_url under [mesh] in Svc.toml.',
  }),
  mesh_address_missing: usage({
    http: 500,
    message: () => 'No control plane is configured.',
    hint: 'Pass --control-url, or set SVC_MESH_CONTROL_ADDR, or control_url under [mesh] in Svc.toml.',
  }),
  control_plane_silent: failed({
    message: (p: {seconds: number; log: string}) => `The control plane did not start within ${p.seconds} seconds.`,
    hint: (p: {log: string}) => `See its log, ${p.log}.`,
  }),
}))
