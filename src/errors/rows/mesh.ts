import {command} from '../command.js'
import {conflict, failed, notFound, rows, size, unavailable, usage} from '../row.js'

/** A refusal by the control plane, as a client received it. */
export interface Refusal {
  /** `join`, `exec_lease_grant`. */
  operation: string
  status: number
  /** Code of the problem details, if there is one. */
  problem?: string | undefined
  detail?: string | undefined
}

/** Details from other programs may end with a full stop. */
const withoutStop = (sentence: string) => `${sentence}`.replace(/\.$/, '')

const refusalMessage = ({operation, status, problem, detail}: Refusal) =>
  `The control plane responded to ${operation} with ${problem ?? `status ${status}`}${detail ? `: ${withoutStop(detail)}` : ''}.`

const newBootstrapToken =
  'Run `svc mesh init --bootstrap` on the machine of the control plane, then send the control plane SIGHUP.'

/** Errors of the mesh control plane, sent as problem details, and of its clients. */
export const meshErrors = rows(() => ({
  missing_field: usage({
    message: (p: {field: string; expected: string}) => `The field ${p.field} must be ${p.expected}.`,
    hint: 'Correct the field and resend the request; nothing was changed.',
    param: (p: {field: string}) => p.field,
  }),
  invalid_agent_id: usage({
    message: (p: {field: string}) => `The field ${p.field} must be an agent id: an unsigned 64-bit integer in decimal.`,
    hint: 'Send the id as a string of digits, for example "42".',
    param: (p: {field: string}) => p.field,
  }),
  scope_key_too_long: usage({
    message: (p: {limit: number}) => `The scope key is longer than ${p.limit} bytes.`,
    hint: 'Use a shorter key, for example task:UUID.',
  }),
  attestation_invalid: usage({
    message: (p: {reason: string}) => `The attestation of the message is invalid: ${p.reason}.`,
    hint: 'Sign the BLAKE3 digest of the payload with the private key that matches SVC_MESH_WORKER_RESULT_VERIFY_KEY.',
  }),
  token_expired: conflict({
    http: 401,
    message: () => 'The token has expired or is not yet valid.',
    hint: 'Create a new token, and check the clocks of both machines.',
  }),
  token_replayed: conflict({
    http: 401,
    message: () => 'The token was already used, and it is valid for one request only.',
    hint: 'Create a token with a new jti claim for each request with the role mesh or admin.',
  }),
  bootstrap_invalid: conflict({
    http: 401,
    message: () => 'The request has no valid bootstrap token.',
    hint: 'Use the token that `svc mesh init --bootstrap` prints, after the control plane has read it on SIGHUP.',
  }),
  role_forbidden: conflict({
    http: 403,
    message: (p: {role: string}) => `The role ${p.role} is not allowed to perform this operation.`,
    hint: 'Use a token whose role allows it: worker for nodes, submitter to deliver messages, admin or mesh for all.',
  }),
  scope_mismatch: conflict({
    http: 403,
    message: () => 'The scope ID of the request does not match that of the control plane.',
    hint: 'Set the same SVC_MESH_SCOPE_ID for every process of the mesh.',
  }),
  unknown_node: conflict({
    http: 403,
    message: (p: {node: string}) => `The node ${p.node} has not joined the mesh.`,
    hint: 'Run `svc mesh join` on that node, then retry.',
  }),
  node_quarantined: conflict({
    http: 403,
    message: (p: {node: string}) => `The node ${p.node} is quarantined.`,
    hint: 'Ask an administrator to run `svc mesh admin quarantine NODE --state off`.',
  }),
  node_maintenance: conflict({
    http: 403,
    message: (p: {node: string}) => `The node ${p.node} is in maintenance and gets no new leases or messages.`,
    hint: 'Wait until maintenance ends, or ask an administrator to run `svc mesh admin maintenance NODE --state off`.',
  }),
  node_identity_mismatch: conflict({
    http: 403,
    message: (p: {node: string}) => `The token was not issued to the node ${p.node}.`,
    hint: 'Use the token that was issued to this node.',
  }),
  node_not_found: notFound({
    message: (p: {node: string}) => `Node ${p.node} does not exist.`,
    hint: 'Run `svc mesh nodes` to list the nodes.',
  }),
  lease_not_found: notFound({
    message: (p: {lease: string; scopeKey?: string | undefined}) =>
      p.scopeKey === undefined
        ? `Lease ${p.lease} does not exist; it may have expired.`
        : `Lease ${p.lease} of the key ${p.scopeKey} does not exist; it may have expired, or belong to another key.`,
    hint: 'Stop the work that the lease covered, and request a new lease.',
  }),
  dead_message_not_found: notFound({
    message: (p: {message: number}) => `Dead letter ${p.message} does not exist.`,
    hint: 'Run `svc mesh dead list` to list the dead letters.',
  }),
  bootstrap_disabled: notFound({
    message: () => 'This control plane has no bootstrap token.',
    hint: newBootstrapToken,
  }),
  lease_held: conflict({
    message: (p: {scopeKey: string}) => `Another node holds the lease on ${p.scopeKey}.`,
    hint: 'Wait until the lease is released or expires; `svc mesh leases` shows its holder and expiry.',
  }),
  not_lease_holder: conflict({
    message: (p: {what: string}) => `This node does not hold ${p.what}.`,
    hint: 'Stop the work, and discard its result.',
  }),
  duplicate_node_id: conflict({
    message: (p: {node: string}) => `Another process has joined as ${p.node}.`,
    hint: 'Set a different SVC_MESH_NODE_ID for each process.',
  }),
  bootstrap_consumed: conflict({
    http: 410,
    message: () => 'The bootstrap token was already used; it works only once.',
    hint: newBootstrapToken,
  }),
  bootstrap_expired: conflict({
    http: 410,
    message: () => 'The bootstrap token has expired.',
    hint: newBootstrapToken,
  }),
  idempotency_key_reused: conflict({
    http: 422,
    message: (p: {message: number}) =>
      `The idempotency key was already used for message ${p.message}, which has different content.`,
    hint: 'Send the new message with a new key; nothing was stored.',
  }),
  promotion_unsupported: conflict({
    message: () => 'The database of this control plane is a SQLite file, which cannot fail over to a standby.',
    hint: 'Promote a control plane only after a failover of its PostgreSQL database; nothing was changed.',
  }),
  inbox_full: unavailable({
    http: 429,
    message: (p: {limit: number}) => `The limit of ${p.limit} unacknowledged messages is reached.`,
    hint: 'Wait until some messages are acknowledged, then send the message again.',
  }),
  blob_not_found: notFound({
    message: (p: {sha256: string}) => `The control plane has no file with the SHA-256 ${p.sha256}.`,
    hint: 'Upload the file again; the control plane deletes files 24 hours after their last upload.',
  }),
  blob_damaged: conflict({
    http: 422,
    message: (p: {sha256: string; found: string}) =>
      `The file has the SHA-256 ${p.found} instead of ${p.sha256}: it was changed during the transfer.`,
    hint: 'Transfer the file again, and check any proxy between both machines.',
  }),
  blobs_full: unavailable({
    http: 507,
    message: (p: {limit: number}) => `The files of this scope would exceed ${size(p.limit)}.`,
    hint: 'Delegate fewer or smaller files; the control plane deletes files 24 hours after their last upload.',
  }),
  store_unavailable: unavailable({
    message: (p: {reason: string}) => `The control plane cannot use its database: ${p.reason}.`,
    hint: 'Send the request again later; nothing was stored.',
  }),
  store_outcome_unknown: unavailable({
    // Clients treat it like an error of a gateway, which does not know the outcome either.
    http: 504,
    message: (p: {reason: string}) => `The control plane has lost the connection to its database: ${p.reason}.`,
    hint: 'Send the request again later; it may have taken effect.',
  }),
  control_plane_stopping: unavailable({
    message: () => 'The control plane is stopping.',
    hint: 'Send the request to another control plane, or send it again later.',
  }),
  attestation_key_missing: unavailable({
    message: () => 'The control plane has no key to verify signed results.',
    hint: 'Set SVC_MESH_WORKER_RESULT_VERIFY_KEY for the control plane, or send the result unsigned.',
  }),
  server_token_missing: unavailable({
    message: () => 'The control plane has no token to issue to a new node.',
    hint: 'Set SVC_MESH_WORKER_TOKEN for the control plane, or create all its secrets with `svc mesh init`.',
  }),
  store_url_invalid: usage({
    http: 500,
    message: (p: {reason: string}) => `Invalid URL of the database of the control plane: ${p.reason}.`,
    hint: 'Use the form postgres://user@host:5432/database?sslmode=verify-full.',
  }),
  store_password_exposed: usage({
    http: 500,
    message: () => 'The URL in --store contains a password, which other users of this machine can read.',
    hint: 'Set the password in PGPASSWORD or a PGPASSFILE, or the URL in SVC_MESH_STORE_URL.',
  }),
  mesh_in_use: conflict({
    http: 500,
    message: (p: {path: string}) => `A control plane uses the store ${p.path}; an export would miss its later changes.`,
    hint: 'Stop the control plane, or export a backup with --live.',
  }),
  mesh_not_empty: conflict({
    http: 500,
    message: (p: {path: string}) => `The store ${p.path} already contains a mesh.`,
    hint: 'Use a new file (--db) or database (--store); nothing was changed.',
  }),
  mesh_export_invalid: usage({
    http: 500,
    message: (p: {path: string; place: string; fault: string}) => `Cannot import ${p.path}, ${p.place}: ${p.fault}.`,
    hint: 'Export the mesh again with `svc mesh export`; nothing was imported.',
  }),
  mesh_unprotected: usage({
    http: 500,
    message: (p: {host: string}) =>
      `Listening on ${p.host} exposes the control plane to other machines and requires a token.`,
    hint: 'Create tokens with `svc mesh init`, listen on 127.0.0.1, or pass --insecure.',
  }),
  mesh_tokens_equal: usage({
    http: 500,
    message: (p: {first: string; second: string}) => `${p.first} and ${p.second} have the same value.`,
    hint: 'Set a different secret for each variable; `svc mesh init` creates the secrets.',
  }),
  mesh_secret_weak: usage({
    http: 500,
    message: (p: {variable: string; least: string}) => `${p.variable} is shorter than ${p.least}.`,
    hint: 'Use a random secret, for example the output of `openssl rand -base64 32`.',
  }),
  mesh_exists: conflict({
    message: (p: {path: string}) => `${p.path} already contains mesh secrets.`,
    hint: 'Use another directory with -C DIR, or pass --force to replace the secrets; nodes with the old ones lose access.',
  }),
  mesh_secrets_overruled: usage({
    http: 500,
    message: (p: {variables: readonly string[]}) =>
      `The issued tokens would be ignored: ${p.variables.join(', ')} ${p.variables.length === 1 ? 'is' : 'are'} set in the environment or another file.`,
    hint: (p: {variables: readonly string[]}) =>
      `Unset ${p.variables.join(' and ')} and join again; the bootstrap token was not consumed.`,
  }),
  mesh_secrets_ignored: usage({
    http: 500,
    message: (p: {fault: string}) => `${withoutStop(p.fault)}.`,
    hint: 'Correct the file, its owner (chown) or its mode (chmod 600), or pass --insecure to run without authentication.',
  }),
  mesh_rejected: usage({
    http: 502,
    message: refusalMessage,
    hint: 'Correct the request, or run the same version of svc on both machines.',
  }),
  mesh_denied: conflict({
    http: 502,
    message: refusalMessage,
    hint: 'Check the tokens of this machine with `svc mesh status`, and the state of the node with `svc mesh nodes`.',
  }),
  mesh_missing: notFound({
    http: 502,
    message: refusalMessage,
    hint: 'Check the id with `svc mesh nodes`, `svc mesh leases` or `svc mesh dead list`; the entry may have expired or been removed.',
  }),
  mesh_unavailable: unavailable({
    http: 502,
    message: refusalMessage,
    hint: 'Try again later.',
  }),
  mesh_token_missing: conflict({
    http: 502,
    message: (p: {operation: string; variables: readonly string[]}) =>
      `The control plane requires a token for ${p.operation}, and this machine has none.`,
    hint: (p: {variables: readonly string[]}) =>
      `Copy ${p.variables.join(' or ')} from .svc/mesh/mesh.env of the control plane, or join with ${command`svc mesh join --bootstrap`}.`,
  }),
  control_plane_missing: unavailable({
    http: 502,
    message: (p: {url: string; reason: string}) => `The server at ${p.url} is not a control plane: ${p.reason}.`,
    hint: 'Correct the address in --control-url, SVC_MESH_CONTROL_ADDR, or control_url under [mesh] in Svc.toml.',
  }),
  remote_task_invalid: usage({
    message: (p: {reason: string}) => `The message of the delegated task is invalid: ${p.reason}.`,
    hint: 'Run the same version of svc on both machines.',
  }),
  remote_task_rejected: conflict({
    message: (p: {reason: string}) => `The worker cannot run the task: ${p.reason}.`,
    hint: 'Run the task on a machine that meets its requirements; `svc mesh nodes` lists the nodes.',
  }),
  secretbox_unusable: conflict({
    message: (p: {reason: string}) => `The secrets of the delegated task cannot be read: ${p.reason}.`,
    hint: 'Set SVC_MESH_SECRETBOX_KEY to the same value on both machines.',
  }),
  remote_file_unusable: conflict({
    message: (p: {path: string; reason: string}) =>
      `The file ${JSON.stringify(p.path)} of the delegated task cannot be used: ${p.reason}.`,
    hint: 'Remove the file from the task, or run the task on the machine that submitted it.',
  }),
  mesh_address_missing: usage({
    http: 500,
    message: () => 'The address of the control plane is not configured.',
    hint: 'Pass --control-url, or set SVC_MESH_CONTROL_ADDR, or control_url under [mesh] in Svc.toml.',
  }),
  control_plane_silent: failed({
    message: (p: {seconds: number; log: string}) => `The control plane did not become ready within ${p.seconds} s.`,
    hint: (p: {log: string}) => `Read its log in ${p.log}.`,
  }),
}))
