import {onAbort, pause} from '../../process/index.js'
import type {ExecLease} from '../protocol/lease.js'
import type {MeshClient} from './client.js'
import {MeshHttpError} from './error.js'
import {jittered} from './jitter.js'
import type {GrantedLease} from './requests.js'
import {retryDelayMs} from './retry.js'

export interface HeldLease {
  readonly lease: ExecLease
  /**
   * True while the holder may act. Becomes false at a local deadline before the expiry on the control plane. Computed
   * on each access, so that it is correct even after the process was suspended.
   */
  readonly isHeld: boolean
  /** Aborts when the lease is released or lost; if lost, the reason is a `LeaseLoss`. */
  readonly ended: AbortSignal
  /** Releases the lease. Never throws: a lease that cannot be released expires. */
  release(): Promise<void>
  /** Stops renewing the lease without releasing it: another process of the holder continues it before it expires. */
  abandon(): void
}

/** Reason for the loss of a lease: the control plane refused a renewal, or was unreachable until the deadline. */
export class LeaseLoss extends Error {
  override readonly name = 'LeaseLoss'
  readonly reason: 'refused' | 'deadline'

  constructor(reason: 'refused' | 'deadline', cause: unknown) {
    super(reason === 'refused' ? 'The lease was lost.' : 'The lease could not be renewed in time.', {cause})
    this.reason = reason
  }
}

export interface HoldOptions {
  claimer: string
  scopeKey: string
  /** Lease duration, ms; default: as reported by the control plane. */
  leaseMs?: number | undefined
  onLost?: ((loss: LeaseLoss) => void) | undefined
  /** Releases the lease on abort. */
  signal?: AbortSignal | undefined
  /** Monotonic clock, ms. */
  monotonic?: (() => number) | undefined
  /** 0 to 1. */
  random?: (() => number) | undefined
}

type Leasing = Pick<MeshClient, 'grantLease' | 'verifyLease' | 'renewLease' | 'releaseLease' | 'timeoutMs'>

/** Minimum margin between the local deadline and the expiry, ms. See `marginOf`. */
const minMarginMs = 2000

/** A tenth of the lease duration, at least `minMarginMs`, at most half of the duration. */
const marginOf = (leaseMs: number) => Math.min(Math.max(minMarginMs, leaseMs / 10), leaseMs / 2)

/**
 * Acquires a lease and renews it at every third of its duration. It is lost immediately if the control plane refuses a
 * renewal, and at a deadline if the control plane is unreachable. The deadline counts from the sending of the last
 * successful renewal.
 * @throws MeshHttpError if the lease is not granted; the reason of the signal
 */
export async function holdLease(client: Leasing, options: HoldOptions): Promise<HeldLease> {
  const {monotonic = () => performance.now(), claimer, scopeKey, signal} = options
  // If the client retries the request, the deadline is earlier than necessary, which is safe.
  const sentMs = monotonic()
  const lease = await client.grantLease({scopeKey, claimer}, {signal})
  const leaseMs = options.leaseMs ?? (await holdingMs(client, lease, signal).catch(releasing(client, lease, claimer)))
  const holding = new Holding(client, {...options, monotonic}, {lease, leaseMs, sentMs})
  holding.keep()
  return holding
}

/**
 * Remaining duration of a lease on the store's clock, which decides its expiry; the Date header may come from another
 * clock. If the response contains no server time, the lease is verified to get it.
 */
async function holdingMs(client: Leasing, lease: GrantedLease, signal: AbortSignal | undefined): Promise<number> {
  const {server_time_unix_ms: time, expires_unix_ms: end, lease_id, scope_key: scopeKey} = lease
  if (time !== undefined) return end - time
  const verified = await client.verifyLease({lease: lease_id, scopeKey}, {signal})
  return verified.expires_unix_ms - verified.server_time_unix_ms
}

/** Releases a lease that cannot be used because its duration is unknown. */
const releasing =
  (client: Leasing, {lease_id}: ExecLease, claimer: string) =>
  async (error: unknown) => {
    void client.releaseLease({lease: lease_id, claimer}).catch(() => undefined)
    throw error
  }

interface Granted {
  lease: ExecLease
  leaseMs: number
  /** Monotonic time at which the request was sent. */
  sentMs: number
}

class Holding implements HeldLease {
  readonly lease: ExecLease
  readonly #client: Leasing
  readonly #options: HoldOptions & {monotonic: () => number}
  readonly #leaseMs: number
  readonly #ended = new AbortController()
  #deadlineMs: number
  #stopListening = () => {}

  constructor(client: Leasing, options: HoldOptions & {monotonic: () => number}, {lease, leaseMs, sentMs}: Granted) {
    this.lease = lease
    this.#client = client
    this.#options = options
    this.#leaseMs = leaseMs
    this.#deadlineMs = this.#deadlineFrom(sentMs)
  }

  get ended(): AbortSignal {
    return this.#ended.signal
  }

  get isHeld(): boolean {
    return !this.ended.aborted && this.#leftMs > 0
  }

  keep(): void {
    this.#stopListening = onAbort(this.#options.signal, () => void this.release())
    if (!this.ended.aborted) void this.#renewUntilEnded()
  }

  async release(): Promise<void> {
    if (this.ended.aborted) return
    this.#end(undefined)
    const {claimer} = this.#options
    await this.#client.releaseLease({lease: this.lease.lease_id, claimer}).catch(() => undefined)
  }

  abandon(): void {
    this.#end(undefined)
  }

  async #renewUntilEnded(): Promise<void> {
    let failed = 0
    let waitMs = this.#renewalMs
    for (let error: unknown; ; ) {
      const isTooLate = waitMs >= this.#leftMs
      await pause(Math.max(0, Math.min(waitMs, this.#leftMs)), this.ended).catch(() => undefined)
      if (this.ended.aborted) return
      if (isTooLate || this.#leftMs <= 0) return this.#lose(new LeaseLoss('deadline', error))
      error = await this.#renew()
      if (this.ended.aborted) return
      if (error instanceof MeshHttpError && error.isStatus(403, 404, 409))
        return this.#lose(new LeaseLoss('refused', error))
      failed = error === undefined ? 0 : failed + 1
      waitMs = error === undefined ? this.#renewalMs : this.#repetitionMs(failed, error)
    }
  }

  /** @returns the error; undefined on success */
  async #renew(): Promise<unknown> {
    const {monotonic, claimer} = this.#options
    const sentMs = monotonic()
    const timeoutMs = Math.min(this.#client.timeoutMs, this.#leftMs)
    try {
      const once = {signal: this.ended, retry: false, timeoutMs}
      await this.#client.renewLease({lease: this.lease.lease_id, claimer}, once)
      // After the local deadline the lease stays lost, even if the control plane has renewed it.
      if (this.#leftMs > 0) this.#deadlineMs = this.#deadlineFrom(sentMs)
      return undefined
    } catch (error) {
      return error
    }
  }

  #lose(loss: LeaseLoss): void {
    this.#end(loss)
    this.#options.onLost?.(loss)
  }

  #end(reason: LeaseLoss | undefined): void {
    this.#stopListening()
    this.#ended.abort(reason)
  }

  get #leftMs(): number {
    return this.#deadlineMs - this.#options.monotonic()
  }

  get #renewalMs(): number {
    return jittered(this.#leaseMs / 3, this.#options.random)
  }

  #repetitionMs(failed: number, error: unknown): number {
    const {random = Math.random} = this.#options
    const asked = error instanceof MeshHttpError ? error.retryAfterMs : undefined
    return retryDelayMs(failed, asked, random()) ?? this.#renewalMs
  }

  #deadlineFrom(sentMs: number): number {
    return sentMs + this.#leaseMs - marginOf(this.#leaseMs)
  }
}
