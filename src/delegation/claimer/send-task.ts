import {secretValues} from '../../exec/index.js'
import {type HeldLease, LeaseLoss, listEveryNode, type MeshClient, remoteTypes, sealSecrets} from '../../mesh/index.js'
import {reasonWithoutMemory, type Task} from '../../tasks/index.js'
import type {PlacementReason, WorkspaceContext} from '../../workspace/index.js'
import type {Delegation} from '../delegation.js'
import {envelopeOf} from './envelope.js'
import {sendFiles} from './remote-files.js'

interface Sending {
  client: MeshClient
  /** Environment of this process, with the values of secrets. */
  env: Readonly<Record<string, string | undefined>>
  /** Joins the mesh as the claimer, unless it has joined. */
  join(): Promise<void>
  /** Acquires the lease of the task. */
  acquire(): Promise<HeldLease>
  signal: AbortSignal
}

/**
 * Sends a task: GPU memory, lease, files, envelope.
 * @returns `moved` if the task no longer waits for the delegation, or the reason to run it here
 * @throws claim_lost, exec_secret_missing, secretbox_unusable, LeaseLoss, RemoteFileError, the errors of the control plane and of the store
 */
export async function sendTask(
  context: WorkspaceContext,
  {client, env, join, acquire, signal}: Sending,
  delegation: Delegation,
): Promise<'sent' | 'moved' | PlacementReason> {
  const task = delegation.requireTask()
  const jwePayload = await sealedSecrets(context, task, env)
  await delegation.run.baseline()
  await join()
  const missing = await withoutMemory(context, {client, signal}, task.capability_requirements?.min_vram_mb)
  if (missing !== undefined) return missing
  const lease = await acquire()
  if (!(await delegation.hold(lease))) return 'moved'
  const files = await sendFiles(context.root, task.file_manifest, client)
  await delegation.storeInputs(
    Object.fromEntries(files.flatMap(({path, sha256}) => (sha256 === undefined ? [] : [[path, sha256]]))),
  )
  if (!lease.isHeld) throw lease.ended.reason ?? new LeaseLoss('deadline', undefined)
  const row = delegation.heldRow()
  if (row === undefined) return 'moved'
  const {message_id: message} = await client.deliver(
    {
      senderAgentId: row.reply_to_agent_id,
      receiverAgentId: row.receiver_agent_id,
      messageType: remoteTypes.envelope,
      payload: JSON.stringify(envelopeOf(context, task, row, files)),
      idempotencyKey: delegation.key,
      requirements: task.capability_requirements,
      jwePayload,
    },
    // An envelope without its lease would be of no use to a worker.
    {signal: AbortSignal.any([signal, lease.ended])},
  )
  delegation.delivered()
  return (await delegation.relay(message)) ? 'sent' : 'moved'
}

/** The secrets of a command, encrypted for the worker; undefined if it has none. */
async function sealedSecrets(
  {config}: WorkspaceContext,
  {exec}: Task,
  env: Sending['env'],
): Promise<string | undefined> {
  if (exec?.secrets === undefined || exec.secrets.length === 0) return undefined
  return sealSecrets(config.meshSecrets.secretboxKey, secretValues(exec, env))
}

/** The reason to run a task here because no node has the GPU memory that it needs. An unknown list is sufficient. */
async function withoutMemory(
  {config, now}: WorkspaceContext,
  {client, signal}: Pick<Sending, 'client' | 'signal'>,
  needed: number | undefined,
): Promise<PlacementReason | undefined> {
  if (needed === undefined || needed <= 0) return undefined
  try {
    const {nodes} = await listEveryNode(client, {maxStaleMs: config.staleThresholdMs}, signal)
    return reasonWithoutMemory(nodes, needed, now())
  } catch (error) {
    if (signal.aborted) throw error
    return undefined
  }
}
