import {SvcError} from '../errors/index.js'
import type {HeldLease} from '../mesh/index.js'
import {type Outcome, settleOutcome} from '../scheduler/index.js'
import {
  continueRemoteRun,
  type DaemonLease,
  type Judged,
  type RemoteRun,
  runLimit,
  startRemoteRuns,
  type Task,
  type Usage,
} from '../tasks/index.js'
import type {PlacementReason, WorkspaceContext} from '../workspace/index.js'
import {type LostNodePolicy, lostNodePolicy} from './lost-node.js'
import {type DelegationRow, type FinalState, insertRow, isOpen, openRows, rowWithKey, updateRow} from './rows.js'

/** Added to the time limit of a task for the messages, ms. */
const graceMs = 30_000

/** The daemon that makes the changes of a delegation. */
interface Daemon {
  context: WorkspaceContext
  /** Every change of a delegation is one transaction under this lease. */
  lease: DaemonLease
  /** Monotonic clock, ms. */
  monotonic: () => number
}

/** Who sends tasks, and which agents exchange the messages. */
interface Parties {
  claimer: string
  /** Agent that receives the task. */
  receiver: string
  /** Agent that receives the messages of the worker. */
  replyTo: string
}

/** A file that a result replaces; without a digest, it is deleted. */
interface ReplacedFile {
  path: string
  sha256?: string | undefined
}

/**
 * One attempt to run a task on another node, from the start of the task to its end:
 *
 * - `granting` -> `held` -> `relayed` -> `started`: the lease is acquired, the envelope is sent, a worker runs the task.
 * - `storing`: its result is being stored. If that fails, the former state continues, and the result is read again.
 * - `done`: the result is stored. `superseded`: the task runs here. `cancelled`: the task no longer waits for it.
 *
 * The row has the state, except `storing`, and is read again at each change: the store is the truth. A change needs the
 * claim on the task, except an end.
 */
export class Delegation {
  readonly #daemon: Daemon
  /** The row at the start or at the restart of the daemon. */
  readonly row: DelegationRow
  readonly run: RemoteRun
  /** Lease of the task, once it is acquired by this process. */
  lease: HeldLease | undefined
  #isLeased: boolean
  /** Attempts to store a result. */
  attempts = 0
  #activity: 'storing' | 'ending' | undefined
  /** A worker has sent a heartbeat. */
  #isStarted: boolean
  /** Monotonic time of the last heartbeat of the worker, or of the delivery, ms. */
  #seenMs: number
  /** Monotonic time at which the task must have ended. */
  readonly #deadlineMs: number

  constructor(daemon: Daemon, row: DelegationRow, run: RemoteRun) {
    this.#daemon = daemon
    this.row = row
    this.run = run
    this.#isLeased = row.lease_id !== null
    this.#isStarted = row.state === 'started'
    this.#seenMs = daemon.monotonic()
    const {ms} = runLimit(daemon.context.config, {...run.task, ...run.task.budget})
    this.#deadlineMs = this.#seenMs + ms + graceMs + this.#policy.afterMs
  }

  /** Starts the next tasks that other nodes may run, in one transaction. */
  static begin(daemon: Daemon, {claimer, receiver, replyTo, limit}: Parties & {limit: number}): Delegation[] {
    const {context, lease} = daemon
    // Workspaces that share workers number their tasks alike, and workers find cancellations by this key.
    const delegateOf = ({id, uid, generation}: {id: number; uid: string; generation: number}) => ({
      idempotency_key: `orch-remote-${id}-${context.now()}-${generation}-${uid.slice(0, 8)}`,
      claimer_node_id: claimer,
    })
    return lease.transaction(() =>
      startRemoteRuns(context, {owner: `mesh:${lease.fence}`, limit, delegateOf}).flatMap((run) => {
        const {task, generation} = run
        const key = task.remote_delegate?.idempotency_key ?? ''
        insertRow(context, {
          task_id: task.id,
          task_uid: task.uid,
          generation,
          idempotency_key: key,
          claimer_node_id: claimer,
          receiver_agent_id: receiver,
          reply_to_agent_id: replyTo,
        })
        const row = rowWithKey(context, key)
        return row === undefined ? [] : new Delegation(daemon, row, run)
      }),
    )
  }

  /** The delegations that the previous daemon has left open. */
  static open(daemon: Daemon): Delegation[] {
    const {context} = daemon
    return openRows(context).map(
      (row) => new Delegation(daemon, row, continueRemoteRun(context, row.task_id, row.generation)),
    )
  }

  /** Identifies the delegation in messages. */
  get key(): string {
    return this.row.idempotency_key
  }

  get parties(): Parties {
    const {claimer_node_id: claimer, receiver_agent_id: receiver, reply_to_agent_id: replyTo} = this.row
    return {claimer, receiver, replyTo}
  }

  /** The lease is in the row, so a worker may know of the task. */
  get isLeased(): boolean {
    return this.#isLeased
  }

  /** Read at each use, since the settings of the workspace can change. */
  get #policy(): LostNodePolicy {
    return lostNodePolicy(this.#daemon.context.config, this.run.task.lost_node)
  }

  /** True while a result is being stored, and from the beginning of an end. Nothing else may change it then. */
  get isBusy(): boolean {
    return this.#activity !== undefined
  }

  #current(): DelegationRow | undefined {
    return rowWithKey(this.#daemon.context, this.key)
  }

  /** The row, if the delegation is open and its task still waits for it. */
  heldRow(): DelegationRow | undefined {
    const row = this.#current()
    return row !== undefined && isOpen(row) && this.run.held() !== undefined ? row : undefined
  }

  isWaiting(): boolean {
    return this.heldRow() !== undefined
  }

  /** The task, which must wait for the delegation. @throws claim_lost */
  requireTask(): Task {
    const task = this.heldRow() === undefined ? undefined : this.run.held()
    if (task !== undefined) return task
    const {task_uid, generation} = this.row
    throw new SvcError('claim_lost', {task: task_uid, generation, current: 0, status: 'Queued'})
  }

  /** Makes one change. @throws daemon_replaced, store_busy */
  #change<T>(change: (row: DelegationRow | undefined) => T): Promise<T> {
    return this.#daemon.lease.write(() => change(this.#current()))
  }

  /** Makes one change while the task waits for the delegation. @returns false if it does not */
  #changeHeld(change: (row: DelegationRow) => void): Promise<boolean> {
    return this.#daemon.lease.write(() => {
      const row = this.heldRow()
      if (row !== undefined) change(row)
      return row !== undefined
    })
  }

  /** `granting` -> `held`. @returns false if the task no longer waits */
  async hold(lease: HeldLease): Promise<boolean> {
    this.lease = lease
    const lease_id = lease.lease.lease_id
    const isHeld = await this.#changeHeld((row) => {
      updateRow(this.#daemon.context, row.id, {state: 'held', lease_id})
      this.#show({...row, lease_id})
    })
    this.#isLeased ||= isHeld
    return isHeld
  }

  /** Stores the digests of the files that are sent with the envelope. */
  storeInputs(digests: Readonly<Record<string, string>>): Promise<void> {
    return this.#change((row) => {
      if (row !== undefined) updateRow(this.#daemon.context, row.id, {inputs_json: JSON.stringify(digests)})
    })
  }

  /** The envelope is delivered: the time without a heartbeat begins. */
  delivered(): void {
    this.#seenMs = this.#daemon.monotonic()
  }

  /** `held` -> `relayed`: the control plane has the envelope. @returns false if the task no longer waits */
  relay(messageId: number): Promise<boolean> {
    return this.#changeHeld((row) => {
      // A worker can have started the task before the response to the delivery arrived.
      const state = row.state === 'started' ? {} : {state: 'relayed' as const}
      updateRow(this.#daemon.context, row.id, {message_id: messageId, ...state})
      this.run.sent({leaseId: row.lease_id, receiver: row.receiver_agent_id})
    })
  }

  /** True for a message that was sent under the lease of the delegation while it is open. */
  isOpenFor({exec_lease_id: lease}: {exec_lease_id?: string}): boolean {
    const row = this.#current()
    return row !== undefined && isOpen(row) && row.state !== 'granting' && lease === row.lease_id
  }

  /**
   * True for a result that counts: its task waits for it, and no other worker has started the task after the sender whose
   * result is to be kept.
   */
  accepts(result: {exec_lease_id?: string; worker_node_id?: string}): boolean {
    const row = this.isOpenFor(result) ? this.heldRow() : undefined
    if (row === undefined) return false
    const {worker_node_id: current} = row
    const isReplaced = current !== null && current !== result.worker_node_id
    return !(isReplaced && this.#policy.reconcile === 'keep_replacement')
  }

  /** A worker runs the task. @param output the end of its output so far */
  async start({worker, output}: {worker?: string | undefined; output?: string | undefined}): Promise<void> {
    this.#seenMs = this.#daemon.monotonic()
    this.#isStarted = true
    const row = this.#current()
    if (row?.state !== 'started' || row.worker_node_id !== (worker ?? row.worker_node_id) || output)
      await this.#changeHeld((current) => this.#start(current, worker, output))
  }

  #start(row: DelegationRow, worker: string | null = row.worker_node_id, output?: string): void {
    if (row.state !== 'started' || row.worker_node_id !== worker) {
      updateRow(this.#daemon.context, row.id, {state: 'started', worker_node_id: worker})
      this.#show({...row, worker_node_id: worker})
    }
    if (output) this.run.outputEnd(output)
  }

  /** Shows the lease and the worker in the task. */
  #show({idempotency_key, claimer_node_id, lease_id, worker_node_id}: DelegationRow): void {
    this.run.show({
      idempotency_key,
      claimer_node_id,
      ...(lease_id === null ? {} : {lease_id, fence_token: Number(lease_id)}),
      ...(worker_node_id === null ? {} : {worker_node_id}),
    })
  }

  /** True if no worker sends heartbeats. A started task is redelivered if its worker is to be replaced. */
  isLost(): boolean {
    const {afterMs, replaces} = this.#policy
    return this.#daemon.monotonic() - this.#seenMs >= afterMs && !(this.#isStarted && replaces)
  }

  isOverdue(): boolean {
    return this.#daemon.monotonic() >= this.#deadlineMs
  }

  /** -> `storing`: work that stores a result. If it fails, the former state continues. */
  async store(work: () => Promise<void>): Promise<void> {
    this.#activity = 'storing'
    try {
      await work()
    } catch (error) {
      this.#activity = undefined
      throw error
    }
  }

  /**
   * The result is about to replace these files, or no longer. If the process is killed meanwhile, the next daemon restores
   * them.
   */
  markReplaced(files: readonly ReplacedFile[] | null): Promise<void> {
    const applying_json = files === null ? null : JSON.stringify(files)
    return this.#change((row) => {
      if (row !== undefined) updateRow(this.#daemon.context, row.id, {applying_json})
    })
  }

  /**
   * `storing` -> `done`: the result of a worker is judged and stored.
   * @returns true if the task is completed
   * @throws as `TaskRun.settle`; daemon_replaced, store_busy
   */
  settle(
    judged: Judged,
    {worker, output, outcome}: {worker: string | undefined; output: string | undefined; outcome: Outcome},
  ): Promise<boolean> {
    return this.#change((row) => {
      if (row !== undefined && this.heldRow() !== undefined) this.#start(row, worker, output)
      const completion = settleOutcome(this.#daemon.context, this.run, judged, outcome)
      this.#end('done')
      return completion.outcome === 'completed'
    })
  }

  /** -> `done`: the task has failed on the other node. If the task no longer waits, -> `cancelled`. */
  fail(reason: string, usage?: Usage): Promise<void> {
    this.#activity ??= 'ending'
    return this.#change(() => {
      if (this.heldRow() === undefined) return this.#end('cancelled', 'orchestrator_cancel')
      this.run.fail(reason, {usage})
      this.#end('done', 'failed')
    })
  }

  /** -> `cancelled`: the task has taken too long, and fails. */
  timeOut(): Promise<void> {
    this.#activity = 'ending'
    return this.#change(() => {
      if (this.heldRow() !== undefined) this.run.fail('timeout')
      this.#end('cancelled', 'timeout')
    })
  }

  /**
   * -> `superseded`: the task is queued for a local agent, and is not sent again. If the task no longer waits,
   * -> `cancelled`.
   */
  fallBack(reason: PlacementReason, detail: string): Promise<void> {
    this.#activity = 'ending'
    return this.#change(() => {
      if (this.heldRow() === undefined) return this.#end('cancelled', detail)
      this.#end('superseded', detail)
      this.run.runHere(reason)
    })
  }

  /** Stores the end; does nothing if the delegation is over. */
  #end(state: FinalState, detail: string | null = null): void {
    const row = this.#current()
    if (row !== undefined && isOpen(row))
      updateRow(this.#daemon.context, row.id, {state, end_reason: detail, applying_json: null})
  }
}
