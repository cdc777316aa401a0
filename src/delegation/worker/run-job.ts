import {SvcError} from '../../errors/index.js'
import {planExec} from '../../exec/index.js'
import type {InferenceEndpoint} from '../../inference-client/index.js'
import {logger, redact} from '../../log/index.js'
import {
  inboxPages,
  MeshHttpError,
  meetsRequirements,
  openSecrets,
  type RemoteResult,
  readResult,
  remoteTypes,
  resultKey,
  type StoredMessage,
  taskScopeKey,
} from '../../mesh/index.js'
import {type KeptOutput, startTimer} from '../../process/index.js'
import {aiProcessor, execProcessor, type Outcome, type RunReport} from '../../scheduler/index.js'
import {runLimit} from '../../tasks/index.js'
import {type OrchestratorConfig, parseCapabilities} from '../../workspace/index.js'
import {type ClaimHold, holdClaim, JobEnded, takeCancel, type Verified} from './hold-claim.js'
import {type Delegation, type Job, readJob} from './job.js'
import {persist, type WorkerMesh} from './mesh.js'
import {failureResult, fitResult, maxOutputBytes, maxProgressBytes, outputTail, successResult} from './result.js'
import {collectFiles, createWorkFolder, fetchFiles, type WorkFolder} from './work-folder.js'

/** What a worker needs to run tasks, read at the start of each task. */
export interface WorkerSettings {
  config: Pick<OrchestratorConfig, 'exec' | 'modelPrices' | 'costPreference' | 'taskTimeoutMs'> &
    Parameters<typeof runLimit>[0]
  endpoint: InferenceEndpoint
  /** Environment of this process, from which a command inherits a few harmless variables. */
  env: Readonly<Record<string, string | undefined>>
  /** Secret key of the secrets of tasks; without it, tasks with secrets are rejected. */
  secretboxKey: string | undefined
  /** Capabilities of this machine in the wire form. */
  capabilities: object
}

export interface JobOptions {
  mesh: WorkerMesh
  /** Id of this node. */
  node: string
  /** Agent whose inbox contains the tasks. */
  receiver: string
  /** Scope of this node; undefined for any. */
  scope?: string | undefined
  /** Folder for the folders of the runs. */
  folder: string
  settings: () => WorkerSettings
  /** Called when a task starts. */
  onStart: (task: Delegation) => void
}

/**
 * How a message ended:
 *
 * - with a result: `completed`, `failed`
 * - without one, because its parent does not need it: `cancelled`, `stale`, `duplicate`, `unreadable`
 * - not at all, so that it returns to the inbox: `claim_lost`, `draining`
 */
type JobEnd = 'completed' | 'failed' | 'cancelled' | 'stale' | 'duplicate' | 'unreadable' | 'claim_lost' | 'draining'

export interface JobReport {
  end: JobEnd
  task?: Delegation | undefined
  /** Error of a failed task. */
  error?: string | undefined
}

/**
 * Handles a claimed message: runs its task, delivers the result and acknowledges the message.
 * @throws MeshHttpError if the control plane refuses a request; the message then returns to the inbox
 */
export async function runJob(options: JobOptions, message: StoredMessage, stop: AbortSignal): Promise<JobReport> {
  const {mesh} = options
  const read = readJob(message)
  if ('fault' in read) return refuse(options, message, read, stop)
  const {job} = read
  try {
    return await runLeased(options, {message, job, stop, verified: await verifyJob(mesh, job, stop)})
  } catch (error) {
    if (stop.aborted) return {end: 'draining', task: job}
    if (error instanceof JobEnded) return {end: 'claim_lost', task: job}
    if (!(error instanceof MeshHttpError)) throw error
    const {context} = error
    if (context !== 'exec_lease_verify' || !error.isMissing) throw error
    await acknowledge(options, message, stop)
    await takeCancel(mesh, options.receiver, job.idempotency_key, {signal: stop})
    return {end: 'stale', task: job}
  }
}

/** Verifies the lease of a task. */
const verifyJob = (mesh: WorkerMesh, job: Job, signal: AbortSignal): Promise<Verified> =>
  persist(signal, async () => {
    const sentMs = performance.now()
    const request = {lease: job.exec_lease_id, scopeKey: taskScopeKey(job.task_uid)}
    return {serverTimeMs: (await mesh.verifyLease(request, {signal})).server_time_unix_ms, sentMs}
  })

/** Acknowledges an invalid message, and reports the fault to its parent if the delegation is readable. */
async function refuse(
  options: JobOptions,
  message: StoredMessage,
  {fault, delegation}: {fault: SvcError; delegation: Delegation | undefined},
  stop: AbortSignal,
): Promise<JobReport> {
  logger('svc.mesh').warn({err: fault, message_id: message.id}, 'invalid message of a delegated task')
  if (delegation !== undefined) {
    const result = failureResult(delegation, {node: options.node, durationMs: 0, output: undefined}, fault)
    await deliverResult(options, delegation, result, stop)
  }
  await acknowledge(options, message, stop)
  return delegation === undefined ? {end: 'unreadable'} : {end: 'failed', task: delegation, error: fault.message}
}

interface Leased {
  message: StoredMessage
  job: Job
  stop: AbortSignal
  verified: Verified
}

async function runLeased(options: JobOptions, {message, job, stop, verified}: Leased): Promise<JobReport> {
  const {mesh, node, receiver} = options
  const progress: Progress = {}
  const hold = await holdClaim({
    mesh,
    node,
    receiver,
    message,
    job,
    verified,
    stop,
    progress: () => ({note: progress.note, output: redactTail(progress.output, maxProgressBytes)}),
  })
  let result: RemoteResult | undefined
  try {
    await persist(hold.signal, () => hold.watch())
    if (message.delivery_attempts > 1 && (await isResultKnown(options, job, hold.signal))) {
      await acknowledge(options, message, hold.signal)
      return {end: 'duplicate', task: job}
    }
    result = await resultOf(options, {job, message, hold, progress})
    await persist(hold.signal, () => hold.verifyLease(hold.signal))
    hold.requireHeld()
    await deliverResult(options, job, result, hold.signal)
    // If this fails, the message is redelivered, and its result is known.
    await acknowledge(options, message, hold.signal).catch((error: unknown) =>
      logger('svc.mesh').debug({err: error}, 'cannot acknowledge a delegated task'),
    )
    return {end: result.success ? 'completed' : 'failed', task: job, error: result.error}
  } catch (error) {
    const reason: unknown = hold.signal.aborted ? hold.signal.reason : error
    if (!(reason instanceof JobEnded)) throw reason
    const {ending} = reason
    if (ending === 'claim_lost' || ending === 'draining') return {end: ending, task: job}
    await acknowledge(options, message, stop)
    return {end: ending === 'cancelled' ? 'cancelled' : 'stale', task: job}
  } finally {
    await hold.close()
  }
}

interface Progress {
  note?: string
  output?: KeptOutput
}

interface Running {
  job: Job
  message: StoredMessage
  hold: ClaimHold
  progress: Progress
}

/** Runs a task. Its errors become a failed result. @throws JobEnded; MeshHttpError */
async function resultOf(options: JobOptions, running: Running): Promise<RemoteResult> {
  const {job, hold, progress} = running
  const startedMs = performance.now()
  const run = () => ({
    node: options.node,
    durationMs: performance.now() - startedMs,
    output: outputTail(progress.output, maxOutputBytes),
  })
  try {
    const settings = options.settings()
    checkTask(job, options.scope, settings)
    const secrets = await receivedSecrets(job, running.message, settings.secretboxKey)
    options.onStart(job)
    const folder = await createWorkFolder(options.folder)
    const acknowledging = acknowledgeLater(options, running)
    try {
      const {files = []} = job.work
      await fetchFiles(folder.root, files, options.mesh, hold.signal)
      const outcome = await execute({...settings, env: {...settings.env, ...secrets}}, running, folder)
      return successResult(job, run(), outcome, await collectFiles(folder.root, files, options.mesh, hold.signal))
    } finally {
      await acknowledging.stop()
      await folder.remove().catch((error: unknown) => logger('svc.mesh').warn({err: error}, 'cannot remove a folder'))
    }
  } catch (error) {
    hold.signal.throwIfAborted()
    if (error instanceof MeshHttpError && error.context === 'a2a_deliver') throw error
    return failureResult(job, run(), error)
  }
}

/** Checks whether this machine can run a task. @throws remote_task_rejected, the errors of `planExec` */
function checkTask(
  {scope: wanted, task, secrets, requirements}: Job,
  scope: string | undefined,
  settings: WorkerSettings,
) {
  const reject = (reason: string) => new SvcError('remote_task_rejected', {reason})
  if (wanted !== undefined && scope !== undefined && wanted !== scope)
    throw reject(`it is of the mesh scope ${wanted}, and this node of ${scope}`)
  if (secrets.length > 0 && task.processor !== 'exec') throw reject('only commands can use secrets')
  if (!meetsRequirements(parseCapabilities(settings.capabilities), requirements))
    throw reject('this node lacks a required capability')
  if (task.processor === 'exec' && settings.config.exec.user !== undefined)
    throw reject('this node runs commands as another user, which cannot use its work folder')
  if (task.processor === 'exec') planExec(task, {...settings.config.exec, root: ''})
}

/**
 * The values of the secrets that a task declares; others are not read. The environment of this machine is not a source.
 * @throws remote_task_rejected, secretbox_unusable
 */
async function receivedSecrets(
  {secrets: names}: Job,
  {jwe_payload: jwe}: StoredMessage,
  key: string | undefined,
): Promise<Record<string, string>> {
  if (names.length === 0) return {}
  const sent = jwe === undefined ? {} : await openSecrets(key, jwe)
  const missing = names.filter((name) => typeof sent[name] !== 'string' || sent[name] === '')
  if (missing.length > 0)
    throw new SvcError('remote_task_rejected', {reason: `the secrets ${missing.join(', ')} were not sent with it`})
  return Object.fromEntries(names.map((name) => [name, String(sent[name])]))
}

async function execute(settings: WorkerSettings, {job, hold, progress}: Running, folder: WorkFolder): Promise<Outcome> {
  const {config, endpoint, env} = settings
  const {task} = job
  const {ms} = runLimit(config, {task_timeout_ms: task.task_timeout_ms})
  const timeUp = new AbortController()
  const timer = startTimer(() => timeUp.abort(), ms)
  const report: RunReport = {
    phase: (phase) => {
      progress.note = phase
    },
    message: () => undefined,
    process: folder.recordProcess,
    output: (output) => {
      progress.output = output
    },
  }
  const processor =
    task.processor === 'exec'
      ? execProcessor({root: folder.root, ...config.exec, env})
      : aiProcessor({endpoint, prices: config.modelPrices, costPreference: config.costPreference})
  try {
    return await processor.run(task, report, AbortSignal.any([hold.signal, timeUp.signal]))
  } catch (error) {
    if (!timeUp.signal.aborted || hold.signal.aborted) throw error
    throw new SvcError('task_run_failed', {reason: `it timed out after ${ms} ms`})
  } finally {
    timer.stop()
  }
}

/** The result of a short task is news enough, so a start is reported only after this time, ms. */
const ackDelayMs = 500

/** Reports the start of a task to its parent if the task takes some time. A failure is not worth ending the run. */
function acknowledgeLater(options: JobOptions, running: Running): {stop(): Promise<void>} {
  let delivered: Promise<void> | undefined
  const timer = setTimeout(() => {
    delivered = deliverAck(options, running).catch((error: unknown) =>
      logger('svc.mesh').debug({err: error}, 'cannot report the start of a delegated task'),
    )
  }, ackDelayMs)
  return {
    async stop() {
      clearTimeout(timer)
      await delivered
    },
  }
}

async function deliverAck({mesh, node, receiver}: JobOptions, {job, message, hold}: Running): Promise<void> {
  const {idempotency_key, task_id, exec_lease_id, fence_token, replyTo} = job
  const ack = {idempotency_key, task_id, exec_lease_id, fence_token, worker_node_id: node, accepted: true}
  await persist(hold.signal, () =>
    mesh.deliver(
      {
        senderAgentId: receiver,
        receiverAgentId: replyTo,
        messageType: remoteTypes.ack,
        payload: JSON.stringify(ack),
        idempotencyKey: `remote-ack-${task_id}-${idempotency_key}-${message.delivery_attempts}`,
        privacyClass: 'private',
      },
      {signal: hold.signal},
    ),
  )
}

/** Maximum sizes of the payload as a JSON string, bytes, for control planes with the default and smaller limits. */
const payloadSizes = [458_752, 114_688, 28_672, 7168, 1792]

/** Delivers a result once: a repeated delivery has the same key. Shortens it if the control plane refuses its size. */
async function deliverResult(
  {mesh, receiver}: JobOptions,
  {task_id, idempotency_key, replyTo}: Delegation,
  result: RemoteResult,
  signal: AbortSignal,
): Promise<void> {
  for (const [i, size] of payloadSizes.entries())
    try {
      const message = {
        senderAgentId: receiver,
        receiverAgentId: replyTo,
        messageType: remoteTypes.result,
        payload: JSON.stringify(fitResult(result, size)),
        idempotencyKey: resultKey(task_id, idempotency_key),
        privacyClass: 'private',
      }
      await persist(signal, () => mesh.deliver(message, {signal}))
      return
    } catch (error) {
      if (!(error instanceof MeshHttpError)) throw error
      // An earlier run of this task has already delivered its result.
      if (error.code === 'idempotency_key_reused') return
      if (error.status !== 413 || i === payloadSizes.length - 1) throw error
    }
}

/** True if an earlier run has delivered a result that its parent has not read yet. */
async function isResultKnown({mesh}: JobOptions, job: Job, signal: AbortSignal): Promise<boolean> {
  const pages = inboxPages(mesh, {receiver: job.replyTo, pageSize: 16, types: [remoteTypes.result]}, {signal})
  for await (const page of pages) if (page.some(({payload}) => keyOf(payload) === job.idempotency_key)) return true
  return false
}

function keyOf(payload: string): string | undefined {
  try {
    return readResult(JSON.parse(payload)).idempotency_key
  } catch {
    return undefined
  }
}

/** Acknowledges a message. If another node holds its claim by now, that node does. */
async function acknowledge({mesh, node, receiver}: JobOptions, {id}: StoredMessage, signal: AbortSignal) {
  try {
    await persist(signal, () => mesh.ack({receiver, message: id, claimer: node}, {signal}))
  } catch (error) {
    if (!(error instanceof MeshHttpError && error.isStatus(409))) throw error
  }
}

const redactTail = (output: KeptOutput | undefined, maxBytes: number) => redact(outputTail(output, maxBytes))
