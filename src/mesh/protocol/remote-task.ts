import {isObject} from '../../contracts/index.js'
import {bodyOf, type Member, must, type Read, readerOf} from './member.js'
import {agentId, anyObject, flag, integer, list, nodeId, number, object, oneOf, text, word} from './types.js'

/** Message types of delegated tasks: the parent sends envelopes and cancellations, the worker the others. */
export const remoteTypes = {
  envelope: 'remote_task_envelope',
  ack: 'remote_task_ack',
  heartbeat: 'remote_task_heartbeat',
  result: 'remote_task_result',
  cancel: 'remote_task_cancel',
} as const

/** Priority of a cancellation, which overtakes all envelopes. */
export const cancelPriority = 255

/** Maximum size of a file that a delegated task reads or writes, and of all files of a scope, bytes. */
export const maxBlobBytes = 8 << 20
export const maxScopeBlobBytes = 256 << 20
/** Time after its last upload at which the control plane deletes a file, ms. */
export const blobTtlMs = 24 * 3_600_000

/** SHA-256 in lower-case hexadecimal. */
export const sha256: Member<string> = {
  expected: 'a SHA-256 in lower-case hexadecimal',
  read: (value) => (typeof value === 'string' && /^[\da-f]{64}$/.test(value) ? value : undefined),
}

const path = must(word(4096))
const file = {path, sha256, size: integer(0, maxBlobBytes)}
const maxFiles = 4096

/** JSON text; an object is serialised again. */
const jsonText: Member<string> = {
  expected: 'JSON text',
  read: (value) => (typeof value === 'string' ? value : isObject(value) ? JSON.stringify(value) : undefined),
}

const work = {
  task_description: must(text),
  assigned_agent_id: integer(),
  session_id: word(2048),
  thread_id: word(256),
  context_envelope_json: jsonText,
  harness_spec_json: jsonText,
  /** Default: `ai`. */
  processor: oneOf('ai', 'exec'),
  /** Name of a command template of the worker, and its values. A command is never sent. */
  template: word(256),
  params: anyObject(65_536),
  category: word(64),
  complexity: integer(1, 10),
  model_preference: word(256),
  model_override: word(512),
  timeout_ms: integer(1),
  /** Files of the task. One without a digest does not exist on the node of the parent. */
  files: list(maxFiles, object(readerOf({...file, access: must(oneOf('read', 'write'))}))),
} as const

/** The work of a delegated task, which the envelope contains as JSON text. */
export type RemoteWork = Read<typeof work>

/** @throws invalid_json, missing_field */
export const readWork = bodyOf(work)

const task = {
  /** Identifies the delegation, among those of all workspaces: begins with `orch-remote-<task id>-<Unix ms>`. */
  idempotency_key: must(word(512)),
  /** Number of the task in the store of the parent, for display. */
  task_id: integer(),
} as const

/** Members by which the parent recognises the delegation that a message belongs to. */
const lease = {exec_lease_id: word(64), fence_token: integer(), worker_node_id: nodeId} as const

const envelope = {
  ...task,
  task_id: must(integer()),
  repository_id: must(word(256)),
  capability_requirements_json: jsonText,
  payload: must(text),
  mesh_scope_id: word(256),
  submitted_unix_ms: integer(),
  exec_lease_id: lease.exec_lease_id,
  fence_token: lease.fence_token,
  campaign_id: word(256),
  session_id: word(2048),
  thread_id: word(256),
  trace_id: word(256),
  span_depth: integer(0, 65_535),
  /** Globally unique id of the task; its lease has the scope key `task:<task_uid>`. */
  task_uid: word(64),
  /** Inbox of the parent, to which the worker sends its messages. */
  reply_to_agent_id: agentId,
  deadline_unix_ms: integer(),
} as const

/** Request to run a task. */
export type RemoteEnvelope = Read<typeof envelope>

/** @throws invalid_json, missing_field, invalid_agent_id */
export const readEnvelope = bodyOf(envelope)

const result = {
  ...task,
  ...lease,
  success: must(flag),
  result: text,
  error: text,
  duration_ms: number(0, Number.MAX_SAFE_INTEGER),
  /** Files that the task has written. One without a digest was deleted. */
  files: list(maxFiles, object(readerOf(file))),
  /** The end of the output of a command. */
  output: text,
  /** Additional data of the processor, such as the exit status, and its usage. */
  details: anyObject(262_144),
  usage: anyObject(4096),
} as const

/** Outcome of a delegated task. */
export type RemoteResult = Read<typeof result>

/** @throws invalid_json, missing_field */
export const readResult = bodyOf(result)

/** The worker has claimed the task and starts it, or rejects it. @throws invalid_json, missing_field */
export const readRemoteAck = bodyOf({...task, ...lease, accepted: must(flag), detail: text})

/** The worker still runs the task. @throws invalid_json, missing_field */
export const readRemoteHeartbeat = bodyOf({
  ...task,
  ...lease,
  seq: must(integer()),
  progress_pct: number(0, 100),
  note: text,
  /** The end of the output so far. */
  output: text,
})

/** The parent no longer wants the result. @throws invalid_json, missing_field */
export const readCancel = bodyOf({...task, reason: word(256)})

/** Scope key of the lease of a task. */
export const taskScopeKey = (taskUid: string): string => `task:${taskUid}`

/** Keys of the messages of a delegation, so that a repeated delivery stores one message. */
export const resultKey = (taskId: number, key: string): string => `remote-result-${taskId}-${key}`
export const cancelKey = (taskId: number, key: string): string => `orch-remote-cancel-${taskId}-${key}`
