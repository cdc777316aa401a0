import {conflict, failed, notFound, rows, unavailable, usage} from '../row.js'

/** What the control plane answered to a client: which operation it was, and the problem as it was told. */
export interface Refusal {
  /** `join`, `exec_lease_grant`. */
  operation: string
  status: number
  /** Code of the problem, where the control plane gave one. */
  problem?: string | undefined
  detail?: string | undefined
}

/** A sentence goes on around it. */
const withoutStop = (sentence: string) => `${sentence}`.replace(/\.$/, '')

const refusalMessage = ({operation, status, problem, detail}: Refusal) =>
  `The control plane answered ${operation} with ${problem ?? status}${detail ? `: ${withoutStop(detail)}` : ''}.`

/** Errors of the mesh: of its control plane, on the wire as problem details, and of those who ask it. */
export const meshErrors = rows(() => ({
  missing_field: usage({
    message: (p: {field: string; expected: string}) => `The field ${p.field} takes ${p.expected}.`,
    hint: 'Put the field right and send the request again; nothing was changed.',
    param: (p: {field: string}) => p.field,
  }),
  invalid_agent_id: usage({
    message: (p: {field: string}) => `The field ${p.field} takes the number of an agent, in decimal digits.`,
    hint: 'Send the number as a string of up to 20 digits.',
    param: (p: {field: string}) => p.field,
  }),
  scope_key_too_long: usage({
    message: (p: {limit: number}) => `The scope key is longer than ${p.limit} bytes.`,
    hint: 'Name what the lease is for in fewer words, for example task:UUID.',
  }),
  attestation_invalid: usage({
    message: (p: {reason: string}) => `The attestation of the message does not hold: ${p.reason}.`,
    hint: 'Sign the BLAKE3 digest of the payload with the key whose public half the control plane has.',
  }),
  token_expired: conflict({
    http: 401,
    message: () => 'The token has expired, or is not valid yet.',
    hint: 'Take a new one, and check the clock of the machine that made it.',
  }),
  token_replayed: conflict({
    http: 401,
    message: () => 'The token was used before, and it works once.',
    hint: 'Make a new token, with a jti of its own, for each request of an administrator.',
  }),
  bootstrap_invalid: conflict({
    http: 401,
    message: () => 'The request carries no valid token for new nodes.',
    hint: 'Take the token that svc mesh init printed; a wrong one costs nothing but the try.',
  }),
  role_forbidden: conflict({
    http: 403,
    message: (p: {role: string}) => `The role ${p.role} may not do that.`,
    hint: 'Use the token of a role that may: nodes work, submitters deliver, administrators do all.',
  }),
  scope_mismatch: conflict({
    http: 403,
    message: () => 'The node names another scope than this control plane has.',
    hint: 'Give every process of the mesh the same SVC_MESH_SCOPE_ID.',
  }),
  unknown_node: conflict({
    http: 403,
    message: (p: {node: string}) => `The node ${p.node} has not joined.`,
    hint: 'Join first, then ask again.',
  }),
  node_quarantined: conflict({
    http: 403,
    message: (p: {node: string}) => `The node ${p.node} is in quarantine.`,
    hint: 'An administrator can lift it with svc mesh admin quarantine.',
  }),
  node_maintenance: conflict({
    http: 403,
    message: (p: {node: string}) => `The node ${p.node} is in maintenance and takes nothing new.`,
    hint: 'Wait for its deadline, or let an administrator end it with svc mesh admin maintenance.',
  }),
  node_identity_mismatch: conflict({
    http: 403,
    message: (p: {node: string}) => `The token is of another node than ${p.node}.`,
    hint: 'A node speaks for itself alone: use the token that was made for it.',
  }),
  node_not_found: notFound({
    message: (p: {node: string}) => `There is no node ${p.node}.`,
    hint: 'List those there are with svc mesh nodes.',
  }),
  lease_not_found: notFound({
    message: (p: {lease: string}) => `There is no lease ${p.lease}; it may have expired.`,
    hint: 'Stop what it stood for, and take a new lease.',
  }),
  dead_message_not_found: notFound({
    message: (p: {message: number}) => `There is no dead message ${p.message}.`,
    hint: 'List those there are with svc mesh dead list.',
  }),
  bootstrap_disabled: notFound({
    message: () => 'This control plane has no token for new nodes.',
    hint: 'Make one with svc mesh init, and let the control plane read it.',
  }),
  lease_held: conflict({
    message: (p: {scopeKey: string}) => `Another node holds the lease on ${p.scopeKey}.`,
    hint: 'Leave the work to that node, or wait until its lease ends.',
  }),
  not_lease_holder: conflict({
    message: (p: {what: string}) => `Another node holds ${p.what}.`,
    hint: 'Stop work on it: what is yours no more must not be ended by you.',
  }),
  duplicate_node_id: conflict({
    message: (p: {node: string}) => `A newer process has joined as ${p.node}.`,
    hint: 'Give each process a node id of its own, with SVC_MESH_NODE_ID.',
  }),
  bootstrap_consumed: conflict({
    http: 410,
    message: () => 'The token for new nodes was used already; it works once.',
    hint: 'Make another one with svc mesh init --bootstrap.',
  }),
  bootstrap_expired: conflict({
    http: 410,
    message: () => 'The token for new nodes has expired.',
    hint: 'Make another one with svc mesh init --bootstrap.',
  }),
  idempotency_key_reused: conflict({
    http: 422,
    message: (p: {message: number}) =>
      `The idempotency key belongs to message ${p.message}, which says something else.`,
    hint: 'Nothing was stored; send another message under a key of its own.',
  }),
  inbox_full: unavailable({
    http: 429,
    message: (p: {limit: number}) => `${p.limit} messages wait already, and none of them is dropped for a new one.`,
    hint: 'Wait until some are acknowledged, then send the message again.',
  }),
  store_unavailable: unavailable({
    message: (p: {reason: string}) => `The control plane cannot write its store: ${p.reason}.`,
    hint: 'Send the request again later; nothing of it was kept.',
  }),
  attestation_key_missing: unavailable({
    message: () => 'The control plane has no key to verify the signature of a result with.',
    hint: 'Start it with SVC_MESH_WORKER_RESULT_VERIFY_KEY, or send the result without a signature.',
  }),
  server_token_missing: unavailable({
    message: () => 'The control plane has no token that it could give to a new node.',
    hint: 'Set SVC_MESH_WORKER_TOKEN where the control plane runs; svc mesh init does.',
  }),
  mesh_unprotected: usage({
    http: 500,
    message: (p: {host: string}) => `Other machines could use a control plane on ${p.host} without a token.`,
    hint: 'Make tokens with svc mesh init, listen on 127.0.0.1, or say --insecure.',
  }),
  mesh_tokens_equal: usage({
    http: 500,
    message: (p: {first: string; second: string}) => `${p.first} and ${p.second} are the same.`,
    hint: 'Give each role a token of its own; svc mesh init makes them.',
  }),
  mesh_secret_weak: usage({
    http: 500,
    message: (p: {variable: string; least: string}) => `${p.variable} is shorter than ${p.least}.`,
    hint: 'Take a random secret, for example of openssl rand -base64 32.',
  }),
  mesh_exists: conflict({
    message: (p: {path: string}) => `${p.path} has secrets of a mesh already.`,
    hint: 'Keep them and work in another folder, or put new ones in their place with --force, which shuts out who has these.',
  }),
  mesh_secrets_overruled: usage({
    http: 500,
    message: (p: {variables: readonly string[]}) =>
      `A stronger source sets ${p.variables.join(', ')}, which would count in the place of what this machine is given.`,
    hint: 'Unset that in the environment and join again; the token for new nodes was not used up.',
  }),
  mesh_secrets_ignored: usage({
    http: 500,
    message: (p: {fault: string}) => `The secrets of the control plane are left out: ${withoutStop(p.fault)}.`,
    hint: 'Put that right, or say --insecure: without a secret whoever reaches the control plane may do everything.',
  }),
  mesh_rejected: usage({
    http: 502,
    message: refusalMessage,
    hint: 'Change what was asked for; the control plane does not understand it.',
  }),
  mesh_denied: conflict({
    http: 502,
    message: refusalMessage,
    hint: 'The token or its role, the state of the node or another holder forbids it.',
  }),
  mesh_missing: notFound({
    http: 502,
    message: refusalMessage,
    hint: 'It may have expired, been used, or never been there.',
  }),
  mesh_unavailable: unavailable({
    http: 502,
    message: refusalMessage,
    hint: 'Try again later; what may be repeated was repeated already.',
  }),
  mesh_token_missing: conflict({
    http: 502,
    message: (p: {operation: string; variables: readonly string[]}) =>
      `The control plane takes ${p.operation} only with a token, and this machine has none that fits.`,
    hint: (p: {variables: readonly string[]}) =>
      `Set ${p.variables.join(' or ')} as on the machine of the control plane; svc mesh join --bootstrap gives a node its own.`,
  }),
  control_plane_missing: unavailable({
    http: 502,
    message: (p: {url: string; reason: string}) => `No control plane answers at ${p.url}: ${p.reason}.`,
    hint: 'Check the address: --control-url, SVC_MESH_CONTROL_ADDR, or control_url below [mesh] of Svc.toml.',
  }),
  mesh_address_missing: usage({
    http: 500,
    message: () => 'No control plane is configured.',
    hint: 'Name it with --control-url, SVC_MESH_CONTROL_ADDR, or control_url below [mesh] of Svc.toml.',
  }),
  control_plane_silent: failed({
    message: (p: {seconds: number; log: string}) =>
      `The control plane that was started did not answer within ${p.seconds} seconds.`,
    hint: (p: {log: string}) => `What it said is in ${p.log}.`,
  }),
}))
