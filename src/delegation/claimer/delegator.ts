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
import {
  abandonedDelegations,
  beginDelegations,
  canDelegate,
  type DaemonLease,
  type DelegationRow,
  delegationWithKey,
  endDelegation,
  failTask,
  fallBack,
  heldTask,
  isOpen,
  openDelegations,
  type PlacementReason,
  recordStart,
  runLimit,
  type TaskContext,
  toTask,
  updateDelegation,
} from '../../tasks/index.js'
import {acceptResult, failDelegation, stagingFolder} from './accept-result.js'
import {claimerOf, replyAgentOf} from './envelope.js'
import {type Held, log, redacted} from './held.js'
import {lostNodePolicy} from './lost-node.js'
import {restoreFiles} from './remote-files.js'
import {sendTask} from './send-task.js'
import {type Sign, WorkerInbox} from './worker-inbox.js'

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
const mostAttempts = 5
/** Added to the time limit of a task for the messages, ms. */
const graceMs = 30_000
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
export function startDelegator(context: TaskContext, options: DelegatorOptions): Companion {
  const delegator = new DelegatorLoop(context, options)
  delegator.start()
  return {wake: () => delegator.wake(), stop: () => delegator.stop()}
}

class DelegatorLoop {
  readonly #context: TaskContext
  readonly #options: DelegatorOptions
  readonly #ending = new AbortController()
  readonly #held = new Map<string, Held>()
  readonly #work = new Set<Promise<void>>()
  readonly #monotonic: () => number
  readonly #claimer: string
  readonly #reply: string
  readonly #inbox: WorkerInbox
  #membership: Membership | undefined
  #joined: Promise<void> | undefined
  #sending = 0
  #isWaking = false
  #timer: NodeJS.Timeout | undefined

  constructor(context: TaskContext, options: DelegatorOptions) {
    this.#context = context
    this.#options = options
    this.#monotonic = options.monotonic ?? (() => performance.now())
    this.#claimer = claimerOf(context)
    this.#reply = replyAgentOf(context.config, this.#claimer)
    this.#inbox = new WorkerInbox({
      client: options.client,
      receiver: this.#reply,
      config: () => context.config,
      signal: this.#ending.signal,
      onResult: (message, result) => this.#onResult(message, result),
      onSign: (sign) => this.#onSign(sign),
    })
    // All requests wait for this signal.
    setMaxListeners(0, this.#ending.signal)
  }

  start(): void {
    const open = openDelegations(this.#context)
    for (const row of open) this.#run(this.#restore(row))
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
    for (const {holding} of this.#held.values()) holding?.abandon()
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
        // The next call tries again; a daemon that cannot go on ends by itself.
        log().debug({err: error}, 'cannot look for tasks to delegate')
      }
    })
  }

  /** Tracks background work, so that `stop` can wait for it. Its errors are logged. */
  #run(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => {
        if (!this.#ending.signal.aborted) log().warn({err: error}, 'delegation failed')
      })
      .finally(() => this.#work.delete(tracked))
    this.#work.add(tracked)
  }

  get #config(): TaskContext['config'] {
    return this.#context.config
  }

  /** Writes under the daemon's lease. */
  #write<T>(write: () => T): Promise<T> {
    return this.#options.lease.write(write)
  }

  #begin(): void {
    const {concurrency = defaultConcurrency, lease} = this.#options
    const receiver = this.#config.meshRemoteExecuteReceiverAgent
    const limit = concurrency - this.#sending
    if (limit <= 0 || receiver === undefined || !canDelegate(this.#config)) return
    const delegator = {owner: `mesh:${lease.fence}`, claimer: this.#claimer, receiver, replyTo: this.#reply, limit}
    const rows = lease.transaction(() => beginDelegations(this.#context, delegator))
    for (const row of rows) {
      this.#sending++
      this.#run(
        this.#send(row).finally(() => {
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
  async #send(row: DelegationRow): Promise<void> {
    const {client, env} = this.#options
    const held = this.#hold(row)
    const sending = {
      client,
      env,
      write: <T>(change: () => T) => this.#write(change),
      join: () => this.#join(),
      acquire: () => this.#acquire(held, row.task_uid),
      monotonic: this.#monotonic,
      signal: this.#ending.signal,
    }
    try {
      const end = await sendTask(this.#context, sending, held, row)
      if (end === 'moved') await this.#fallBack(held, moved)
      else if (end !== 'sent') await this.#fallBack(held, 'no node has the GPU memory', end)
    } catch (error) {
      // A stopped daemon leaves the rest to the next one.
      if (this.#ending.signal.aborted || held.isBusy) return
      log().info({task_id: row.task_id, err: redacted(client, error)}, 'task was not sent to another node')
      await this.#fallBack(held, error instanceof LeaseLoss ? leaseLost : SvcError.from(error).code)
    }
  }

  #hold(row: DelegationRow): Held {
    const at = this.#monotonic()
    const found = heldTask(this.#context, row)
    const task = found === undefined ? undefined : toTask(found)
    const {ms} = runLimit(this.#config, {...task, ...task?.budget})
    const policy = () => lostNodePolicy(this.#config, task?.lost_node)
    const held: Held = {
      key: row.idempotency_key,
      taskId: row.task_id,
      seenMs: at,
      deadlineMs: at + ms + graceMs + policy().afterMs,
      policy,
      isStarted: row.state === 'started',
      isBusy: false,
      attempts: 0,
    }
    this.#held.set(held.key, held)
    return held
  }

  /** Acquires the lease of a task. If the control plane does not know the claimer, it joins first. */
  async #acquire(held: Held, uid: string): Promise<HeldLease> {
    const hold = () =>
      holdLease(this.#options.client, {
        claimer: this.#claimer,
        scopeKey: taskScopeKey(uid),
        monotonic: this.#monotonic,
        onLost: (loss) => this.#run(this.#onLeaseLost(held, loss)),
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
  async #fallBack(held: Held, detail: string, reason: PlacementReason = relayError): Promise<void> {
    held.isBusy = true
    const row = delegationWithKey(this.#context, held.key)
    await this.#write(() => fallBack(this.#context, held.key, reason, detail))
    // What may have reached a worker is cancelled, whatever is known about it.
    if (row !== undefined && row.lease_id !== null) await this.#cancel(row, detail)
    await this.#forget(held)
  }

  async #forget(held: Held): Promise<void> {
    this.#held.delete(held.key)
    await held.holding?.release()
  }

  /** Asks the worker to stop; advisory, because its result would not be accepted. */
  async #cancel(row: DelegationRow, reason: string): Promise<void> {
    const {client} = this.#options
    const {idempotency_key: key, task_id: taskId} = row
    try {
      await client.deliver({
        senderAgentId: row.reply_to_agent_id,
        receiverAgentId: row.receiver_agent_id,
        messageType: remoteTypes.cancel,
        payload: JSON.stringify({idempotency_key: key, task_id: taskId, reason}),
        idempotencyKey: cancelKey(taskId, key),
        priority: cancelPriority,
      })
    } catch (error) {
      log().info(
        {task_id: taskId, err: redacted(this.#options.client, error)},
        'cannot cancel the task on the other node',
      )
    }
  }

  /** Ends the delegations whose tasks no longer wait for them. */
  #endMoved(): void {
    if (this.#held.size === 0) return
    for (const key of abandonedDelegations(this.#context)) {
      const held = this.#held.get(key)
      if (held !== undefined && !held.isBusy) this.#run(this.#fallBack(held, moved))
    }
  }

  /** A lost lease may already have a result, which counts if it was sent before the loss. */
  async #onLeaseLost(held: Held, loss: LeaseLoss): Promise<void> {
    if (this.#ending.signal.aborted || held.isBusy) return
    log().warn({task_id: held.taskId, reason: loss.reason}, 'lease of a delegated task lost')
    await this.#inbox.read(0).catch(() => undefined)
    if (!held.isBusy) await this.#fallBack(held, leaseLost)
  }

  /** Ends delegations without a sign of life, and tasks that take longer than their limit. */
  #checkDeadlines(): void {
    const at = this.#monotonic()
    for (const held of this.#held.values()) {
      if (held.isBusy || held.holding === undefined) continue
      if (at >= held.deadlineMs) this.#run(this.#timeOut(held))
      else if (this.#isLost(held, at)) this.#run(this.#fallBack(held, 'no_sign_of_life'))
    }
  }

  /** A task that no worker starts is always lost; a started one is redelivered if its worker is to be replaced. */
  #isLost({seenMs, isStarted, policy}: Held, at: number): boolean {
    const {afterMs, replaces} = policy()
    return at - seenMs >= afterMs && !(isStarted && replaces)
  }

  async #timeOut(held: Held): Promise<void> {
    held.isBusy = true
    const row = delegationWithKey(this.#context, held.key)
    if (row !== undefined) {
      await this.#write(() => {
        if (heldTask(this.#context, row) !== undefined)
          failTask(this.#context, row.task_id, 'timeout', {generation: row.generation})
        endDelegation(this.#context, row, 'cancelled', 'timeout')
      })
      await this.#cancel(row, 'timeout')
    }
    await this.#forget(held)
  }

  /**
   * Continues a delegation of the previous daemon. One whose envelope was not delivered falls back; another is held
   * under its lease, or falls back if that has ended.
   */
  async #restore(row: DelegationRow): Promise<void> {
    const held = this.#hold(row)
    if (row.applying_json !== null) {
      await restoreFiles(this.#context.root, stagingFolder(this.#context, row), JSON.parse(row.applying_json))
      await this.#write(() => updateDelegation(this.#context, row.id, {applying_json: null}))
    }
    if (heldTask(this.#context, row) === undefined) return this.#fallBack(held, moved)
    try {
      await this.#join()
      const holding = await this.#acquire(held, row.task_uid)
      held.holding = holding
      const isSame = row.lease_id === null || holding.lease.lease_id === row.lease_id
      if (isSame && row.message_id !== null) return
      // The envelope may have been delivered before the previous daemon died: falling back cancels it.
      if (!isSame) await this.#inbox.read(0)
    } catch (error) {
      if (this.#ending.signal.aborted) return
      log().info({task_id: row.task_id, err: redacted(this.#options.client, error)}, 'cannot restore a delegated task')
    }
    if (!held.isBusy && !this.#ending.signal.aborted) await this.#fallBack(held, 'daemon_restarted')
  }

  async #onSign(read: Sign): Promise<void> {
    const row = this.#openRow(read)
    if (row === undefined) return
    const held = this.#held.get(row.idempotency_key)
    if (held !== undefined) {
      held.seenMs = this.#monotonic()
      held.isStarted = true
    }
    const {worker_node_id: worker, output} = read
    if (row.state !== 'started' || row.worker_node_id !== (worker ?? row.worker_node_id) || output)
      await this.#write(() => recordStart(this.#context, row, {worker, output}))
  }

  /** The open delegation that a message belongs to, if it was sent under its lease. */
  #openRow({idempotency_key: key, exec_lease_id: lease}: {idempotency_key: string; exec_lease_id?: string}) {
    const row = delegationWithKey(this.#context, key)
    return row !== undefined && isOpen(row) && row.state !== 'granting' && lease === row.lease_id ? row : undefined
  }

  /**
   * Stores the result of a worker exactly once: a result for an unknown or closed delegation, or under another lease,
   * changes nothing.
   */
  async #onResult(message: StoredMessage, result: RemoteResult): Promise<void> {
    const row = this.#openRow(result)
    const held = this.#held.get(result.idempotency_key)
    if (held?.isBusy) return
    const isForeign = row === undefined || held === undefined || heldTask(this.#context, row) === undefined
    if (isForeign || this.#isReplaced(held, row, result)) {
      const known = delegationWithKey(this.#context, result.idempotency_key)
      const what = known?.state === 'done' ? 'duplicate_result' : 'late_result_ignored'
      log().info({event: what, message_id: message.id, task_id: result.task_id}, 'result of a delegated task ignored')
      await this.#inbox.ack(message)
      return
    }
    held.isBusy = true
    try {
      const {client} = this.#options
      const write = <T>(change: () => T) => this.#write(change)
      await acceptResult(this.#context, {client, write, signal: this.#ending.signal}, row, result)
    } catch (error) {
      held.isBusy = false
      if (this.#ending.signal.aborted) return
      held.attempts++
      log().warn(
        {task_id: row.task_id, err: redacted(this.#options.client, error)},
        'cannot store the result of a delegated task yet',
      )
      // The message stays in the inbox, and is read again after a pause.
      if (held.attempts < mostAttempts) throw error
      held.isBusy = true
      await this.#write(() =>
        failDelegation(this.#context, row, `its result cannot be stored: ${redacted(this.#options.client, error)}`),
      )
    }
    await this.#inbox.ack(message)
    await this.#forget(held)
  }

  /** True if another worker has started the task after the sender, and its result is to be kept. */
  #isReplaced(
    {policy}: Held,
    {worker_node_id: current}: DelegationRow,
    {worker_node_id: sender}: RemoteResult,
  ): boolean {
    return policy().reconcile === 'keep_replacement' && current !== null && current !== sender
  }
}
