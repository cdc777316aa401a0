import {type Capabilities, withoutUndefined} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {type RemoteEnvelope, type RemoteWork, readEnvelope, readWork, type StoredMessage} from '../../mesh/index.js'
import {displayTask, type Task} from '../../tasks/index.js'
import {parseCapabilities, taskCategories} from '../../workspace/index.js'

/** The members that identify a delegation, for messages to its parent. */
export interface Delegation {
  idempotency_key: string
  task_id: number
  exec_lease_id?: string | undefined
  fence_token?: number | undefined
  /** Inbox of the parent. */
  replyTo: string
}

/** A delegated task. */
export interface Job extends Delegation {
  exec_lease_id: string
  task_uid: string
  scope?: string | undefined
  work: RemoteWork
  requirements: Capabilities
  /** Names of secrets that the task needs. */
  secrets: readonly string[]
  /** The task as processors expect it. */
  task: Task
}

/** Result of parsing a message: a job, or its fault with the delegation as far as it is readable. */
type ReadJob = {job: Job} | {fault: SvcError; delegation: Delegation | undefined}

/** Parses a `remote_task_envelope`. Never throws: an invalid message would return to the inbox again and again. */
export function readJob(message: StoredMessage): ReadJob {
  let body: unknown
  try {
    body = parseJson(message.payload, 'it')
    return {job: jobOf(readEnvelope(body), message)}
  } catch (error) {
    return {fault: faultOf(error), delegation: delegationOf(body, message)}
  }
}

function jobOf(envelope: RemoteEnvelope, message: StoredMessage): Job {
  const {exec_lease_id, task_uid} = envelope
  // Without a lease, the worker could not detect that the parent runs the task itself.
  if (exec_lease_id === undefined || task_uid === undefined) throw invalid('it has no exec_lease_id or no task_uid')
  const inner = readWork(parseJson(envelope.payload, 'its payload'))
  const session = {
    session_id: inner.session_id ?? envelope.session_id,
    thread_id: inner.thread_id ?? envelope.thread_id,
  }
  const work = {...inner, ...withoutUndefined(session)}
  const needs = parseJson(envelope.capability_requirements_json ?? '{}', 'its capability_requirements_json')
  const secrets = secretsOf(needs)
  return {
    idempotency_key: envelope.idempotency_key,
    task_id: envelope.task_id,
    exec_lease_id,
    fence_token: envelope.fence_token,
    replyTo: envelope.reply_to_agent_id ?? message.sender_agent_id,
    task_uid,
    scope: envelope.mesh_scope_id,
    work,
    requirements: parseCapabilities(needs),
    secrets,
    task: taskOf({...envelope, task_uid}, work, message, secrets),
  }
}

/** A task with only the members that processors read. */
function taskOf(
  envelope: RemoteEnvelope & {task_uid: string},
  work: RemoteWork,
  message: StoredMessage,
  secrets: readonly string[],
): Task {
  const {task_id: id, repository_id, submitted_unix_ms: submitted = message.created_unix_ms} = envelope
  const {processor = 'ai', template, params = {}, complexity = 5} = work
  return {
    id,
    display_id: displayTask(id),
    uid: envelope.task_uid,
    repository_id,
    status: 'InProgress',
    agent_id: work.assigned_agent_id ?? 0,
    agent_name: '',
    priority: 'normal',
    description: work.task_description,
    category: taskCategories.find((category) => category === work.category) ?? 'general',
    complexity,
    phase_label: 'single_shot',
    processor,
    file_manifest: (work.files ?? []).map(({path, access}) => ({path, access})),
    depends_on: [],
    tool_hints: [],
    research_hints: [],
    is_detached: false,
    trace_id: envelope.trace_id ?? '',
    placement_reason: 'populi_remote_lease_hold',
    transcript: [],
    retry_count: 0,
    debug_iterations: 0,
    toestub_iterations: 0,
    socrates_iterations: 0,
    generation: message.delivery_attempts,
    handoff_count: 0,
    created_at_ms: submitted,
    updated_at_ms: submitted,
    ...withoutUndefined({
      // Commands receive it as SVC_TASK_CORRELATION_ID, so that they can recognise a repeated run.
      correlation_id: envelope.idempotency_key,
      exec:
        template === undefined
          ? undefined
          : {template, params: textsOf(params), ...(secrets.length === 0 ? {} : {secrets: [...secrets]})},
      model_preference: work.model_preference,
      model_override: work.model_override,
      task_timeout_ms: work.timeout_ms,
      session_id: work.session_id,
      thread_id: work.thread_id,
      campaign_id: envelope.campaign_id,
    }),
  }
}

function textsOf(params: object): Record<string, string> {
  for (const [name, value] of Object.entries(params))
    if (typeof value !== 'string') throw invalid(`its parameter ${JSON.stringify(name)} is not a string`)
  return params as Record<string, string>
}

function secretsOf(needs: unknown): string[] {
  const {required_secrets: names} = Object(needs) as {required_secrets?: unknown}
  return Array.isArray(names) ? names.map(String) : []
}

/** Reads the members of a delegation from an invalid message. */
function delegationOf(body: unknown, {sender_agent_id}: StoredMessage): Delegation | undefined {
  const {
    idempotency_key: key,
    task_id,
    exec_lease_id,
    fence_token,
    reply_to_agent_id,
  } = Object(body) as Record<string, unknown>
  if (typeof key !== 'string' || !/^[^\p{Cc}\p{Cs}]{1,512}$/u.test(key)) return undefined
  const id = task_id ?? Number(/^orch-remote-(\d+)-/.exec(key)?.[1])
  if (!Number.isSafeInteger(id) || Number(id) < 0) return undefined
  return {
    idempotency_key: key,
    task_id: Number(id),
    exec_lease_id: typeof exec_lease_id === 'string' && /^\d{1,64}$/.test(exec_lease_id) ? exec_lease_id : undefined,
    fence_token: Number.isSafeInteger(fence_token) ? Number(fence_token) : undefined,
    replyTo:
      typeof reply_to_agent_id === 'string' && /^\d{1,20}$/.test(reply_to_agent_id)
        ? reply_to_agent_id
        : sender_agent_id,
  }
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalid(`${what} is not JSON: ${(error as Error).message}`)
  }
}

const invalid = (reason: string) => new SvcError('remote_task_invalid', {reason})

function faultOf(error: unknown): SvcError {
  const fault = SvcError.from(error)
  return fault.code === 'remote_task_invalid' ? fault : invalid(fault.message.replace(/\.$/, ''))
}
