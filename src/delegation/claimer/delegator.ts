import {setMaxListeners} from 'node:events'
import {SvcError} from '../../errors/index.js'
import {
  cancelKey,
  cancelPriority,
  claimerLabel,
  type HeldLease,
  holdLease,
  type JoinRecord,
  LeaseLoss,
  type Membership,
  type MeshClient,
  MeshHttpError,
  type RemoteResult,
  remoteTypes,
  type StoredMessage,
  startMembership,
  taskScopeKey,
} from '../../mesh/index.js'
import type {Companion} from '../../scheduler/index.js'
import {canDelegate, type DaemonLease, lostRuns} from '../../tasks/index.js'
import type {PlacementReason, WorkspaceContext} from '../../workspace/index.js'
import {Delegation} from '../delegation.js'
import {rowWithKey} from '../rows.js'
import {acceptResult, stagingFolder} from './accept-result.js'
import {claimerLog, redacted} from './claimer-log.js'
import {claimerOf, replyAgentOf} from './envelope.js'
import {restoreFiles} from './remote-files.js'
import {sendTask} from './send-task.js'
import {type Liveness, WorkerInbox} from './worker-inbox.js'

export interface DelegatorOptions {
  /** Closed when the delegator stops. */
  client: MeshClient
  /** Environment of this process, with the values of secrets. */
  env: Readonly<Record<string, string | undefined>>
  /** The daemon's lease on the workspace. */
  lease: DaemonLease
  /** Version of this program, for the record of the claimer. */
  version: string
  /** Maximum number of tasks that are being sent at once. */
  concurrency?: number
  /** Monotonic clock, ms. */
  monotonic?: () => number
}

const defaultConcurrency = 8
/** Attempts to store a result whose files cannot be downloaded or written. */
const maxAttempts = 5
/** Interval between checks of the deadlines, ms. */
const checkMs = 1000

const relayError = 'local_queue_fallback_after_remote_relay_error'
/** Reasons why delegations end. */
const leaseLost = 'lease_renew_failed'
const moved = 'orchestrator_cancel'

/**
 * Delegates tasks of a workspace to other nodes of the mesh and accepts their results. Continues the delegations of the
 * previous daemon, and leaves those of its own to the next one when it stops.
 */
export function startDelegator(context: WorkspaceContext, options: DelegatorOptions): Companion {
  const delegator = new DelegatorLoop(context, options)
  delegator.start()
  return {wake: () => delegator.wake(), stop: () => delegator.stop()}
}

class DelegatorLoop {
  readonly #context: WorkspaceContext
  readonly #options: DelegatorOptions
  readonly #ending = new AbortController()
  /** Delegations that are not over, by key. */
  readonly #open = new Map<string, Delegation>()
  readonly #work = new Set<Promise<void>>()
  readonly #claimer: string
  readonly #reply: string
  readonly #inbox: WorkerInbox
  #membership: Membership | undefined
  #joined: Promise<void> | undefined
  #sending = 0
  #isWaking = false
  #timer: NodeJS.Timeout | undefined

  constructor(context: WorkspaceContext, options: DelegatorOptions) {
    this.#context = context
    this.#options = options
    this.#claimer = claimerOf(context)
    this.#reply = replyAgentOf(context.config, this.#claimer)
    this.#inbox = new WorkerInbox({
      client: options.client,
      receiver: this.#reply,
      config: () => context.config,
      signal: this.#ending.signal,
      onResult: (message, result) => this.#onResult(message, result),
      onLiveness: (liveness) => this.#onLiveness(liveness),
    })
    // All requests wait for this signal.
    setMaxListeners(0, this.#ending.signal)
  }

  start(): void {
    const open = Delegation.open(this.#daemon)
    for (const delegation of open) this.#run(this.#restore(delegation))
    if (open.length > 0 || canDelegate(this.#context.config)) {
      this.#join()
      this.#run(this.#inbox.poll())
    }
    this.#timer = setInterval(() => this.#checkDeadlines(), checkMs)
    this.wake()
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    clearInterval(this.#timer)
    await Promise.allSettled([...this.#work])
    for (const {lease} of this.#open.values()) lease?.abandon()
    await this.#membership?.done
    await this.#options.client.close()
  }

  wake(): void {
    if (this.#isWaking || this.#ending.signal.aborted) return
    this.#isWaking = true
    // After the round of the daemon that calls this, whose transaction must end first.
    setImmediate(() => {
      this.#isWaking = false
      if (this.#ending.signal.aborted) return
      try {
        this.#endMoved()
        this.#begin()
      } catch (error) {
        // The next call tries again; a daemon that cannot continue ends.
        claimerLog().debug({err: error}, 'cannot look for tasks to delegate')
      }
    })
  }

  /** Tracks background work, so that `stop` can wait for it. Its errors are logged. */
  #run(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => {
        if (!this.#ending.signal.aborted) claimerLog().warn({err: error}, 'delegation failed')
      })
      .finally(() => this.#work.delete(tracked))
    this.#work.add(tracked)
  }

  get #config(): WorkspaceContext['config'] {
    return this.#context.config
  }

  get #daemon() {
    const {lease, monotonic = () => performance.now()} = this.#options
    return {context: this.#context, lease, monotonic}
  }

  #begin(): void {
    const {concurrency = defaultConcurrency} = this.#options
    const receiver = this.#config.meshRemoteExecuteReceiverAgent
    const limit = concurrency - this.#sending
    if (limit <= 0 || receiver === undefined || !canDelegate(this.#config)) return
    const parties = {claimer: this.#claimer, receiver, replyTo: this.#reply}
    for (const delegation of Delegation.begin(this.#daemon, {...parties, limit})) {
      this.#sending++
      this.#run(
        this.#send(delegation).finally(() => {
          this.#sending--
          this.wake()
        }),
      )
    }
  }

  /** Joins as the claimer and sends heartbeats, so that its leases are not those of a dead node. */
  #join(): Promise<void> {
    this.#joined ??= new Promise((resolve) => {
      this.#membership = startMembership(this.#options.client, {
        record: () => this.#record(),
        heartbeatSecs: this.#config.meshNode.heartbeatSecs,
        signal: this.#ending.signal,
        // Whatever the outcome: the control plane decides whether the claimer may hold a lease.
        onEvent: () => resolve(),
      })
    })
    return this.#joined
  }

  #record(): JoinRecord {
    const {scopeId} = this.#config
    return {
      id: this.#claimer,
      version: this.#options.version,
      capabilities: {labels: [claimerLabel]},
      ...(scopeId === undefined ? {} : {scope_id: scopeId}),
    }
  }

  /** Sends a task. A failure queues it for a local agent. */
  async #send(delegation: Delegation): Promise<void> {
    const {client, env} = this.#options
    this.#open.set(delegation.key, delegation)
    const sending = {
      client,
      env,
      join: () => this.#join(),
      acquire: () => this.#acquire(delegation),
      signal: this.#ending.signal,
    }
    try {
      const end = await sendTask(this.#context, sending, delegation)
      if (end === 'moved') await this.#fallBack(delegation, moved)
      else if (end !== 'sent') await this.#fallBack(delegation, 'no node has the GPU memory', end)
    } catch (error) {
      // A stopped daemon leaves the rest to the next one.
      if (this.#ending.signal.aborted || delegation.isBusy) return
      const facts = {task_id: delegation.run.task.id, err: redacted(client, error)}
      claimerLog().info(facts, 'task was not sent to another node')
      await this.#fallBack(delegation, error instanceof LeaseLoss ? leaseLost : SvcError.from(error).code)
    }
  }

  /** Acquires the lease of a task. If the control plane does not know the claimer, it joins first. */
  async #acquire(delegation: Delegation): Promise<HeldLease> {
    const hold = () =>
      holdLease(this.#options.client, {
        claimer: this.#claimer,
        scopeKey: taskScopeKey(delegation.run.task.uid),
        monotonic: this.#daemon.monotonic,
        onLost: (loss) => this.#run(this.#onLeaseLost(delegation, loss)),
      })
    try {
      return await hold()
    } catch (error) {
      if (!(error instanceof MeshHttpError && error.code === 'unknown_node')) throw error
      await this.#membership?.rejoin()
      return hold()
    }
  }

  /**
   * Ends a delegation without a result: queues its task for a local agent if it still waits for the delegation, cancels
   * it at the worker, and releases the lease.
   */
  async #fallBack(delegation: Delegation, detail: string, reason: PlacementReason = relayError): Promise<void> {
    await delegation.fallBack(reason, detail)
    // What may have reached a worker is cancelled, whatever is known about it.
    if (delegation.isLeased) await this.#cancel(delegation, detail)
    await this.#forget(delegation)
  }

  async #forget(delegation: Delegation): Promise<void> {
    this.#open.delete(delegation.key)
    await delegation.lease?.release()
  }

  /** Asks the worker to stop; advisory, because its result would not be accepted. */
  async #cancel({key, run, parties}: Delegation, reason: string): Promise<void> {
    const {client} = this.#options
    const {id: taskId} = run.task
    try {
      await client.deliver({
        senderAgentId: parties.replyTo,
        receiverAgentId: parties.receiver,
        messageType: remoteTypes.cancel,
        payload: JSON.stringify({idempotency_key: key, task_id: taskId, reason}),
        idempotencyKey: cancelKey(taskId, key),
        priority: cancelPriority,
      })
    } catch (error) {
      const facts = {task_id: taskId, err: redacted(client, error)}
      claimerLog().info(facts, 'cannot cancel the task on the other node')
    }
  }

  /** Ends the delegations whose tasks no longer wait for them. */
  #endMoved(): void {
    const leased = [...this.#open.values()].filter(({isLeased, isBusy}) => isLeased && !isBusy)
    const lost = new Set(
      lostRuns(
        this.#context,
        leased.map(({run}) => run),
      ),
    )
    for (const delegation of leased) if (lost.has(delegation.run)) this.#run(this.#fallBack(delegation, moved))
  }

  /** A lost lease may already have a result, which counts if it was sent before the loss. */
  async #onLeaseLost(delegation: Delegation, loss: LeaseLoss): Promise<void> {
    if (this.#ending.signal.aborted || delegation.isBusy) return
    const facts = {task_id: delegation.run.task.id, reason: loss.reason}
    claimerLog().warn(facts, 'lease of a delegated task lost')
    await this.#inbox.read(0).catch(() => undefined)
    if (!delegation.isBusy) await this.#fallBack(delegation, leaseLost)
  }

  /** Ends delegations without a heartbeat, and tasks that take longer than their limit. */
  #checkDeadlines(): void {
    for (const delegation of this.#open.values()) {
      if (delegation.isBusy || delegation.lease === undefined) continue
      if (delegation.isOverdue()) this.#run(this.#timeOut(delegation))
      else if (delegation.isLost()) this.#run(this.#fallBack(delegation, 'no_sign_of_life'))
    }
  }

  async #timeOut(delegation: Delegation): Promise<void> {
    await delegation.timeOut()
    await this.#cancel(delegation, 'timeout')
    await this.#forget(delegation)
  }

  /**
   * Continues a delegation of the previous daemon. One whose envelope was not delivered falls back; another is held
   * under its lease, or falls back if that has ended.
   */
  async #restore(delegation: Delegation): Promise<void> {
    this.#open.set(delegation.key, delegation)
    const {row} = delegation
    if (row.applying_json !== null) {
      await restoreFiles(this.#context.root, stagingFolder(this.#context, row), JSON.parse(row.applying_json))
      await delegation.markReplaced(null)
    }
    if (!delegation.isWaiting()) return this.#fallBack(delegation, moved)
    try {
      await this.#join()
      const lease = await this.#acquire(delegation)
      delegation.lease = lease
      const isSame = row.lease_id === null || lease.lease.lease_id === row.lease_id
      if (isSame && row.message_id !== null) return
      // The envelope may have been delivered before the previous daemon died: falling back cancels it.
      if (!isSame) await this.#inbox.read(0)
    } catch (error) {
      if (this.#ending.signal.aborted) return
      const facts = {task_id: delegation.run.task.id, err: redacted(this.#options.client, error)}
      claimerLog().info(facts, 'cannot restore a delegated task')
    }
    if (!delegation.isBusy && !this.#ending.signal.aborted) await this.#fallBack(delegation, 'daemon_restarted')
  }

  async #onLiveness(liveness: Liveness): Promise<void> {
    const delegation = this.#open.get(liveness.idempotency_key)
    if (delegation?.isOpenFor(liveness))
      await delegation.start({worker: liveness.worker_node_id, output: liveness.output})
  }

  /**
   * Stores the result of a worker exactly once: a result for an unknown or closed delegation, or under another lease,
   * changes nothing.
   */
  async #onResult(message: StoredMessage, result: RemoteResult): Promise<void> {
    const delegation = this.#open.get(result.idempotency_key)
    if (delegation?.isBusy) return
    if (!delegation?.accepts(result)) {
      const isDone = rowWithKey(this.#context, result.idempotency_key)?.state === 'done'
      const facts = {message_id: message.id, task_id: result.task_id}
      const event = isDone ? 'duplicate_result' : 'late_result_ignored'
      claimerLog().info({event, ...facts}, 'result of a delegated task ignored')
      await this.#inbox.ack(message)
      return
    }
    const {client} = this.#options
    try {
      await delegation.store(() =>
        acceptResult(this.#context, {client, signal: this.#ending.signal}, delegation, result),
      )
    } catch (error) {
      if (this.#ending.signal.aborted) return
      delegation.attempts++
      const reason = redacted(client, error)
      const facts = {task_id: delegation.run.task.id, err: reason}
      claimerLog().warn(facts, 'cannot store the result of a delegated task yet')
      // The message stays in the inbox, and is read again after a pause.
      if (delegation.attempts < maxAttempts) throw error
      await delegation.fail(`its result cannot be stored: ${reason}`)
    }
    await this.#inbox.ack(message)
    await this.#forget(delegation)
  }
}
