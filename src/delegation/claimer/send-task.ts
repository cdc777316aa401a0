import {SvcError} from '../../errors/index.js'
import {type HeldLease, LeaseLoss, listEveryNode, type MeshClient, remoteTypes, sealSecrets} from '../../mesh/index.js'
import {
  type DelegationRow,
  decidePlacement,
  delegationWithKey,
  heldTask,
  type PlacementReason,
  parseCapabilities,
  recordLease,
  recordRelay,
  remoteHint,
  secretValues,
  type Task,
  type TaskContext,
  type TaskRow,
  TaskRun,
  toTask,
  updateDelegation,
} from '../../tasks/index.js'
import {envelopeOf} from './envelope.js'
import type {Held} from './held.js'
import {sendFiles} from './remote-files.js'

export interface Sending {
  client: MeshClient
  /** Environment of this process, with the values of secrets. */
  env: Readonly<Record<string, string | undefined>>
  /** Runs a transaction under the lease of the daemon. */
  write<T>(change: () => T): Promise<T>
  /** Joins the mesh as the claimer, unless it has joined. */
  join(): Promise<void>
  /** Acquires the lease of the task. */
  acquire(): Promise<HeldLease>
  /** Monotonic clock, ms. */
  monotonic(): number
  signal: AbortSignal
}

/**
 * Sends a task: GPU memory, lease, files, envelope.
 * @returns `moved` if the task no longer waits for the delegation, or the reason to run it here
 * @throws claim_lost, exec_secret_missing, secretbox_unusable, LeaseLoss, RemoteFileError, the errors of the control plane and of the store
 */
export async function sendTask(
  context: TaskContext,
  {client, env, write, join, acquire, monotonic, signal}: Sending,
  held: Held,
  row: DelegationRow,
): Promise<'sent' | 'moved' | PlacementReason> {
  const {idempotency_key: key} = row
  const task = toTask(taskOf(context, row))
  const jwePayload = await sealedSecrets(context, task, env)
  await new TaskRun(context, {task, generation: row.generation}).baseline()
  await join()
  const missing = await withoutMemory(context, {client, signal}, task.capability_requirements?.min_vram_mb)
  if (missing !== undefined) return missing
  held.holding = await acquire()
  const lease = held.holding.lease.lease_id
  if (!(await write(() => recordLease(context, key, lease)))) return 'moved'
  const files = await sendFiles(context.root, task.file_manifest, client)
  const inputs = Object.fromEntries(files.flatMap(({path, sha256}) => (sha256 === undefined ? [] : [[path, sha256]])))
  await write(() => updateDelegation(context, row.id, {inputs_json: JSON.stringify(inputs)}))
  const current = delegationWithKey(context, key) ?? row
  if (!held.holding.isHeld) throw held.holding.ended.reason ?? new LeaseLoss('deadline', undefined)
  if (heldTask(context, current) === undefined) return 'moved'
  const {message_id: message} = await client.deliver(
    {
      senderAgentId: row.reply_to_agent_id,
      receiverAgentId: row.receiver_agent_id,
      messageType: remoteTypes.envelope,
      payload: JSON.stringify(envelopeOf(context, task, current, files)),
      idempotencyKey: key,
      requirements: task.capability_requirements,
      jwePayload,
    },
    // An envelope without its lease would be of no use to a worker.
    {signal: AbortSignal.any([signal, held.holding.ended])},
  )
  held.seenMs = monotonic()
  return (await write(() => recordRelay(context, key, message))) ? 'sent' : 'moved'
}

/** The secrets of a command, encrypted for the worker; undefined if it has none. */
async function sealedSecrets({config}: TaskContext, {exec}: Task, env: Sending['env']): Promise<string | undefined> {
  if (exec?.secrets === undefined || exec.secrets.length === 0) return undefined
  return sealSecrets(config.meshSecrets.secretboxKey, secretValues(exec, env))
}

function taskOf(context: TaskContext, row: DelegationRow): TaskRow {
  const task = heldTask(context, row)
  if (task === undefined)
    throw new SvcError('claim_lost', {task: row.task_uid, generation: row.generation, current: 0, status: 'Queued'})
  return task
}

/** The reason to run a task here because no node has the GPU memory that it needs. An unknown list is sufficient. */
async function withoutMemory(
  {config, now}: TaskContext,
  {client, signal}: Pick<Sending, 'client' | 'signal'>,
  needed: number | undefined,
): Promise<PlacementReason | undefined> {
  if (needed === undefined || needed <= 0) return undefined
  try {
    const {nodes} = await listEveryNode(client, {maxStaleMs: config.staleThresholdMs}, signal)
    const remoteNodes = nodes.map((node) =>
      remoteHint({...node, capabilities: parseCapabilities(node.capabilities)}, 0, now()),
    )
    const {reason} = decidePlacement({gated: true, minVramMb: needed, localVram: [], remoteNodes, relay: 'not_tried'})
    return reason === 'local_queue_default' ? undefined : reason
  } catch (error) {
    if (signal.aborted) throw error
    return undefined
  }
}
