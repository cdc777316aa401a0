import type {ExecLease} from '../protocol/lease.js'
import type {MeshClient} from './client.js'
import {MeshHttpError} from './error.js'
import {pause} from './pause.js'
import type {GrantedLease} from './requests.js'
import {retryDelayMs} from './retry.js'

/** A lease that is renewed as long as it can be. */
export interface HeldLease {
  readonly lease: ExecLease
  /**
   * Whether it may be acted on now. False from a deadline of this process on, which lies before the end that the
   * control plane knows; looked at when it is asked, so that a process which was stopped is not taken in by its own
   * timers.
   */
  readonly isHeld: boolean
  /** Aborts when it is lost or given back, with a `LeaseLoss` where it is lost. */
  readonly ended: AbortSignal
  /** Gives it back; what does not reach the control plane ends there by itself. */
  release(): Promise<void>
}

/** Why a lease is lost: the control plane said so, or could not be asked in time. */
export class LeaseLoss extends Error {
  override readonly name = 'LeaseLoss'
  readonly reason: 'refused' | 'deadline'

  constructor(reason: 'refused' | 'deadline', cause: unknown) {
    super(reason === 'refused' ? 'The lease is lost.' : 'The lease could not be renewed in time.', {cause})
    this.reason = reason
  }
}

export interface HoldOptions {
  claimer: string
  scopeKey: string
  /** For how long the control plane grants it; where it is left out, what it says of that. */
  leaseMs?: number | undefined
  onLost?: ((loss: LeaseLoss) => void) | undefined
  /** Releases the lease when it is aborted. */
  signal?: AbortSignal | undefined
  /** Monotonic clock of this process, ms. */
  monotonic?: (() => number) | undefined
  /** 0 to 1. */
  random?: (() => number) | undefined
}

type Leasing = Pick<MeshClient, 'grantLease' | 'verifyLease' | 'renewLease' | 'releaseLease' | 'timeoutMs'>

/** A lease is given up so long before its end, or a tenth of it where that is more; half of a short one. */
const leastMarginMs = 2000

const marginOf = (leaseMs: number) => Math.min(Math.max(leastMarginMs, leaseMs / 10), leaseMs / 2)

/**
 * Takes a lease and keeps it: it is renewed at every third of its time. What the control plane denies is lost at once.
 * What it cannot be asked about is lost at a deadline, counted from when the last renewal that succeeded was sent.
 * @throws MeshHttpError where it is not granted; what the signal was aborted with
 */
export async function holdLease(client: Leasing, options: HoldOptions): Promise<HeldLease> {
  const {monotonic = () => performance.now(), claimer, scopeKey, signal} = options
  // Where the client sends it again, less is counted than there is.
  const sentMs = monotonic()
  const lease = await client.grantLease({scopeKey, claimer}, {signal})
  const leaseMs = options.leaseMs ?? (await holdingMs(client, lease, signal).catch(releasing(client, lease, claimer)))
  const holding = new Holding(client, {...options, monotonic}, {lease, leaseMs, sentMs})
  holding.keep()
  return holding
}

/**
 * How long a lease holds, by the clock of the store, which alone ends it: the clock of a header may be another one.
 * Where it did not come with the lease it is asked for, and is then what is left of it.
 */
async function holdingMs(client: Leasing, lease: GrantedLease, signal: AbortSignal | undefined): Promise<number> {
  const {server_time_unix_ms: time, expires_unix_ms: end, lease_id, scope_key: scopeKey} = lease
  if (time !== undefined) return end - time
  const verified = await client.verifyLease({lease: lease_id, scopeKey}, {signal})
  return verified.expires_unix_ms - verified.server_time_unix_ms
}

/** What cannot be held is nobody's for no longer than it has to be. */
const releasing =
  (client: Leasing, {lease_id}: ExecLease, claimer: string) =>
  async (error: unknown) => {
    void client.releaseLease({lease: lease_id, claimer}).catch(() => undefined)
    throw error
  }

interface Granted {
  lease: ExecLease
  leaseMs: number
  /** When it was asked for, by the clock of this process. */
  sentMs: number
}

class Holding implements HeldLease {
  readonly lease: ExecLease
  readonly #client: Leasing
  readonly #options: HoldOptions & {monotonic: () => number}
  readonly #leaseMs: number
  readonly #ended = new AbortController()
  readonly #giveBack = () => void this.release()
  #deadlineMs: number

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
    const {signal} = this.#options
    signal?.addEventListener('abort', this.#giveBack, {once: true})
    if (signal?.aborted) this.#giveBack()
    else void this.#renewUntilEnded()
  }

  async release(): Promise<void> {
    if (this.ended.aborted) return
    this.#end(undefined)
    const {claimer} = this.#options
    await this.#client.releaseLease({lease: this.lease.lease_id, claimer}).catch(() => undefined)
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

  /** Gives what went wrong. */
  async #renew(): Promise<unknown> {
    const {monotonic, claimer} = this.#options
    const sentMs = monotonic()
    const timeoutMs = Math.min(this.#client.timeoutMs, this.#leftMs)
    try {
      const once = {signal: this.ended, retry: false, timeoutMs}
      await this.#client.renewLease({lease: this.lease.lease_id, claimer}, once)
      // What was over by then stays over, though the control plane thinks otherwise.
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
    this.#options.signal?.removeEventListener('abort', this.#giveBack)
    this.#ended.abort(reason)
  }

  get #leftMs(): number {
    return this.#deadlineMs - this.#options.monotonic()
  }

  /** Give or take a tenth, so that leases which were taken together are not renewed together. */
  get #renewalMs(): number {
    const {random = Math.random} = this.#options
    return (this.#leaseMs / 3) * (0.9 + random() / 5)
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
