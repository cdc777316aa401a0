import {setTimeout as sleep} from 'node:timers/promises'
import {logger} from '../../log/index.js'
import {type HeldLease, holdLease, readCancel, remoteTypes, type StoredMessage, taskScopeKey} from '../../mesh/index.js'
import {onAbort} from '../../process/index.js'
import type {Job} from './job.js'
import {isMissing, type WorkerMesh} from './mesh.js'

/**
 * Why a run ends without a result. The envelope is acknowledged after `cancelled` and `lease_lost`, since the parent no
 * longer wants the result; otherwise it returns to the inbox.
 */
type Ending = 'cancelled' | 'lease_lost' | 'claim_lost' | 'draining'

/** Abort reason of a run. */
export class JobEnded extends Error {
  override readonly name = 'JobEnded'
  constructor(readonly ending: Ending) {
    super(ending)
  }
}

/** Verification of the lease of a task. */
export interface Verified {
  /** Time on the control plane's clock, Unix ms. */
  serverTimeMs: number
  /** Monotonic time before the request was sent, ms. */
  sentMs: number
}

interface ClaimOptions {
  mesh: WorkerMesh
  node: string
  receiver: string
  message: StoredMessage
  job: Job
  verified: Verified
  /** Aborts when the worker must stop. */
  stop: AbortSignal
  /** Progress for the heartbeats. */
  progress: () => {note?: string | undefined; output?: string | undefined}
}

/** Interval between two checks for cancellations, ms. */
const cancelPollMs = 3000

/**
 * Keeps a claimed message while its task runs: renews the claim, sends heartbeats, verifies the lease of the parent, and
 * watches for a cancellation.
 * @throws JobEnded if the claim has expired meanwhile
 */
export async function holdClaim(options: ClaimOptions): Promise<ClaimHold> {
  const {mesh, node: claimer, receiver, message, verified} = options
  const {serverTimeMs, sentMs} = verified
  const atVerification = (message.lease_expires_unix_ms ?? serverTimeMs) - serverTimeMs
  // This process may have been suspended since the verification.
  const leaseMs = sentMs + atVerification - performance.now()
  if (leaseMs <= 0) throw new JobEnded('claim_lost')
  // A claim is renewed and lost like a lease, which the control plane has granted with the message.
  const lease = {lease_id: String(message.id), fence_token: 0, scope_key: '', holder_node_id: claimer}
  const claim = {
    timeoutMs: mesh.timeoutMs,
    grantLease: async () => ({...lease, expires_unix_ms: serverTimeMs + leaseMs, server_time_unix_ms: serverTimeMs}),
    renewLease: (held: {claimer: string}, more?: object) =>
      mesh.renewClaim({receiver, message: message.id, claimer: held.claimer}, more),
    releaseLease: async () => true,
    verifyLease: mesh.verifyLease,
  }
  const held = await holdLease(claim, {claimer, scopeKey: '', leaseMs})
  return new ClaimHold(options, held, leaseMs)
}

export class ClaimHold {
  readonly #options: ClaimOptions
  readonly #held: HeldLease
  readonly #leaseMs: number
  readonly #ended = new AbortController()
  readonly #closed = new AbortController()
  readonly #loops: Promise<void>[] = []
  readonly #stopListening: () => void
  /** Offset of the control plane's clock from the monotonic clock, ms. */
  #clockMs: number

  constructor(options: ClaimOptions, held: HeldLease, leaseMs: number) {
    this.#options = options
    this.#held = held
    this.#leaseMs = leaseMs
    this.#clockMs = options.verified.serverTimeMs - performance.now()
    onAbort(held.ended, () => this.end('claim_lost'))
    this.#stopListening = onAbort(options.stop, () => this.end('draining'))
  }

  /** Aborts with a `JobEnded` when the run must end without a result. */
  get signal(): AbortSignal {
    return this.#ended.signal
  }

  /** Throws if the run must end, or if the local deadline of the claim has passed. @throws JobEnded */
  requireHeld(): void {
    if (!this.#held.isHeld) this.end('claim_lost')
    this.signal.throwIfAborted()
  }

  end(ending: Ending): void {
    if (!this.#ended.signal.aborted) this.#ended.abort(new JobEnded(ending))
  }

  /** Checks for a cancellation, then keeps watching in the background. @throws JobEnded, MeshHttpError */
  async watch(): Promise<void> {
    await this.#checkCancel(0)
    this.signal.throwIfAborted()
    this.#loops.push(this.#repeat(this.#leaseMs / 3, (seq) => this.#beat(seq)))
    this.#loops.push(this.#repeat(0, () => this.#awaitCancel()))
  }

  async close(): Promise<void> {
    this.#closed.abort()
    this.#stopListening()
    await Promise.all(this.#loops)
    await this.#held.release()
  }

  /** Verifies that the parent still holds the lease of the task. @throws JobEnded, MeshHttpError */
  async verifyLease(signal: AbortSignal): Promise<void> {
    const {mesh, job} = this.#options
    try {
      const request = {lease: job.exec_lease_id, scopeKey: taskScopeKey(job.task_uid)}
      const {server_time_unix_ms: time} = await mesh.verifyLease(request, {signal})
      this.#clockMs = time - performance.now()
    } catch (error) {
      if (!isMissing(error)) throw error
      this.end('lease_lost')
      this.signal.throwIfAborted()
    }
  }

  /** Repeats work until the run ends. Its errors are not worth ending the run, which the claim limits. */
  async #repeat(intervalMs: number, work: (seq: number) => Promise<void>): Promise<void> {
    const over = AbortSignal.any([this.#closed.signal, this.signal])
    for (let seq = 1; ; seq++) {
      await sleep(intervalMs, undefined, {signal: over}).catch(() => undefined)
      if (over.aborted) return
      await work(seq).catch((error: unknown) => {
        if (!over.aborted) logger('svc.mesh').debug({err: error}, 'request of a running delegated task failed')
      })
    }
  }

  async #beat(seq: number): Promise<void> {
    const {mesh, node, receiver, job, message, progress} = this.#options
    await this.verifyLease(this.#over)
    const {idempotency_key, task_id, exec_lease_id, fence_token} = job
    const lease = {exec_lease_id, fence_token, worker_node_id: node}
    const beat = {idempotency_key, task_id, ...lease, seq, ...progress()}
    await mesh.deliver(
      {
        senderAgentId: receiver,
        receiverAgentId: job.replyTo,
        messageType: remoteTypes.heartbeat,
        payload: JSON.stringify(beat),
        idempotencyKey: `remote-heartbeat-${task_id}-${idempotency_key}-${message.delivery_attempts}-${seq}`,
        privacyClass: 'private',
      },
      {signal: this.#over, retry: false},
    )
  }

  async #awaitCancel(): Promise<void> {
    const startedMs = performance.now()
    try {
      await this.#checkCancel(Math.min(cancelPollMs, this.#leaseMs / 3))
    } finally {
      // Cancellations of other tasks end the wait at once.
      const leftMs = Math.min(cancelPollMs, this.#leaseMs / 3) - (performance.now() - startedMs)
      await sleep(Math.max(0, leftMs), undefined, {signal: this.#over}).catch(() => undefined)
    }
  }

  async #checkCancel(waitMs: number): Promise<void> {
    const {mesh, receiver, job} = this.#options
    await takeCancel(mesh, receiver, job.idempotency_key, {
      waitMs: Math.round(waitMs),
      signal: this.#over,
      isObsolete: (message) => this.#isObsolete(message),
      onFound: () => this.end('cancelled'),
    })
  }

  /** The lease of a cancelled task has been released or has expired by then, so that no worker runs the task. */
  #isObsolete({created_unix_ms: created}: StoredMessage): boolean {
    return this.#clockMs + performance.now() - created > 2 * this.#leaseMs
  }

  get #over(): AbortSignal {
    return this.#closed.signal
  }
}

interface CancelOptions {
  signal: AbortSignal
  /** Time to wait for a message, ms. */
  waitMs?: number
  /** True for a message that can no longer concern any task, so that it is removed. */
  isObsolete?: (message: StoredMessage) => boolean
  onFound?: () => void
}

/** Looks for the cancellation of a task, and acknowledges it. */
export async function takeCancel(
  mesh: WorkerMesh,
  receiver: string,
  key: string,
  {signal, waitMs = 0, isObsolete = () => false, onFound = () => {}}: CancelOptions,
): Promise<void> {
  const request = {receiver, messageTypes: [remoteTypes.cancel], maxMessages: 256, waitMs}
  for (const message of await mesh.inbox(request, {signal})) {
    const isOurs = cancelledKey(message.payload) === key
    if (isOurs) onFound()
    if (isOurs || isObsolete(message)) await mesh.ack({receiver, message: message.id})
  }
}

function cancelledKey(payload: string): string | undefined {
  try {
    return readCancel(JSON.parse(payload)).idempotency_key
  } catch {
    return undefined
  }
}
