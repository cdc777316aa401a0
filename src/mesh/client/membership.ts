import {randomBytes} from 'node:crypto'
import {withoutUndefined} from '../../contracts/index.js'
import {forwardAbort, pause} from '../../process/index.js'
import type {HeartbeatReply, NodeRecord} from '../protocol/node.js'
import type {MeshClient} from './client.js'
import {MeshHttpError} from './error.js'
import {jittered} from './jitter.js'
import type {HeartbeatRecord, JoinRecord} from './requests.js'

/** Event of a membership. Contains no tokens. */
export type MembershipEvent =
  | {type: 'joined'; record: NodeRecord}
  | {type: 'heartbeat'; reply: NodeRecord & Partial<HeartbeatReply>}
  /** @property failures consecutive failures @property nextMs time until the next attempt, ms */
  | {type: 'failed'; operation: 'join' | 'heartbeat'; error: MeshHttpError; failures: number; nextMs: number}
  /** The control plane does not know the node, or may have forgotten it; the node joins again. */
  | {type: 'rejoining'}
  /** A newer process uses the node id; this membership has ended. */
  | {type: 'replaced'; error: MeshHttpError}

export interface MembershipOptions {
  /** Returns the current record of the node. */
  record: () => JoinRecord
  /** Heartbeat interval if the control plane sets none, s; 0 joins without sending heartbeats. */
  heartbeatSecs: number
  /** Agent whose pending messages each heartbeat response counts. */
  receiverAgentId?: string | undefined
  onEvent?: ((event: MembershipEvent) => void) | undefined
  /** Stops the heartbeats. The node stays registered until it leaves or expires. */
  signal?: AbortSignal | undefined
  /** 0 to 1. */
  random?: (() => number) | undefined
}

export interface Membership {
  /** Resolves when the signal aborts, the node has left, or a newer process has replaced it. */
  readonly done: Promise<void>
  /** Joins now. Resolves at the next event, whatever the outcome, or when the membership ends. */
  rejoin(): Promise<void>
  /**
   * Stops the heartbeats and leaves.
   * @returns false if the control plane did not know the node
   * @throws MeshHttpError
   */
  leave(): Promise<boolean>
}

/** Bounds of intervals set by the control plane, and maximum backoff after failures, ms. */
const minMs = 100
const maxMs = 3_600_000
const maxBackoffMs = 300_000
/** Interval of join attempts if heartbeats are disabled, ms. */
const joinRetryMs = 30_000
/** Consecutive heartbeat failures after which the node joins again. */
const failuresToRejoin = 3

/**
 * Joins and sends heartbeats at the interval set by the control plane until the signal aborts. A failed request is not
 * retried immediately but at the next interval, which grows with each failure.
 */
export function startMembership(
  client: Pick<MeshClient, 'join' | 'heartbeat' | 'leave'>,
  options: MembershipOptions,
): Membership {
  const {signal} = options
  const ending = new AbortController()
  const end = () => ending.abort()
  const stopListening = forwardAbort(signal, ending)
  const reporter = new Reporter(client, options, ending.signal)
  const awaited: (() => void)[] = []
  const resolveAwaited = () => {
    for (const resolve of awaited.splice(0)) resolve()
  }
  let waiting = new AbortController()
  const pacing: Pacing = {
    onEvent(event) {
      resolveAwaited()
      options.onEvent?.(event)
    },
    delay(ms) {
      waiting = new AbortController()
      return delay(ms, AbortSignal.any([ending.signal, waiting.signal]))
    },
  }
  const done = stayMember(reporter, {...options, ...pacing}, ending.signal).finally(() => {
    stopListening()
    resolveAwaited()
  })
  return {
    done,
    rejoin() {
      reporter.rejoin()
      waiting.abort()
      return ending.signal.aborted ? done : new Promise<void>((resolve) => awaited.push(resolve))
    },
    async leave() {
      end()
      // A heartbeat that arrives after the leave request would add the node again.
      await done
      return client.leave(options.record().id)
    },
  }
}

type Joining = Pick<MeshClient, 'join' | 'heartbeat'>

/** How a membership emits its events and waits between its reports. */
interface Pacing {
  onEvent(event: MembershipEvent): void
  /** Waits; resolves early if the node must join now or the signal aborts. */
  delay(ms: number): Promise<void>
}

async function stayMember(reporter: Reporter, options: MembershipOptions & Pacing, signal: AbortSignal): Promise<void> {
  const {onEvent, delay, heartbeatSecs, random = Math.random} = options
  let intervalMs = heartbeatSecs === 0 ? joinRetryMs : heartbeatSecs * 1000
  let failures = 0
  while (!signal.aborted)
    try {
      const event = await reporter.report()
      failures = 0
      onEvent(event)
      intervalMs = intervalOf(event) ?? intervalMs
      // Without heartbeats, only a request to join again ends the wait, which also keeps the process alive.
      await delay(heartbeatSecs === 0 ? Number.POSITIVE_INFINITY : jittered(intervalMs, random))
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof MeshHttpError)) throw error
      if (error.isStatus(409)) return onEvent({type: 'replaced', error})
      const {operation} = reporter
      if (operation === 'heartbeat' && (error.isStatus(404) || failures + 1 >= failuresToRejoin)) {
        reporter.rejoin()
        onEvent({type: 'rejoining'})
      }
      // An unknown node joins immediately.
      if (operation === 'heartbeat' && error.isStatus(404)) continue
      failures++
      const askedMs = Math.min(error.retryAfterMs ?? 0, maxMs)
      const nextMs = Math.max(backoffMs(intervalMs, failures, random), askedMs)
      onEvent({type: 'failed', operation, error, failures, nextMs})
      await delay(nextMs)
    }
}

/** Reports a node: the full record at first and after a change, otherwise a short heartbeat. */
class Reporter {
  readonly #client: Joining
  readonly #options: MembershipOptions
  readonly #signal: AbortSignal
  /** Identifies this process: a random number below 2^53. */
  readonly #incarnation = Number(randomBytes(8).readBigUInt64BE() >> 11n)
  #seq = 0
  #hasJoined = false
  /** Facts that the control plane already has. */
  #reported = ''

  constructor(client: Joining, options: MembershipOptions, signal: AbortSignal) {
    this.#client = client
    this.#options = options
    this.#signal = signal
  }

  get operation(): 'join' | 'heartbeat' {
    return this.#hasJoined ? 'heartbeat' : 'join'
  }

  rejoin(): void {
    this.#hasJoined = false
  }

  async report(): Promise<Extract<MembershipEvent, {type: 'joined' | 'heartbeat'}>> {
    const record = this.#options.record()
    const facts = stableFacts(record)
    const once = {signal: this.#signal, retry: false}
    const incarnation = {incarnation: this.#incarnation, seq: this.#seq++}
    if (!this.#hasJoined) {
      const stored = await this.#client.join({...record, ...incarnation}, once)
      this.#hasJoined = true
      this.#reported = facts
      return {type: 'joined', record: stored}
    }
    const reply = await this.#client.heartbeat({...this.#heartbeat(record, facts), ...incarnation}, once)
    this.#reported = facts
    return {type: 'heartbeat', reply}
  }

  #heartbeat(record: JoinRecord, facts: string): HeartbeatRecord {
    const {id, scope_id, cpu_usage_pct, memory_free_bytes} = record
    const {receiverAgentId: receiver_agent_id} = this.#options
    const sent =
      facts === this.#reported ? {id, ...withoutUndefined({scope_id, cpu_usage_pct, memory_free_bytes})} : record
    return {...sent, ...withoutUndefined({receiver_agent_id})}
  }
}

/** Facts that do not change between heartbeats, as a string for comparison. */
function stableFacts(record: JoinRecord): string {
  const {cpu_usage_pct, memory_free_bytes, gpu_readiness_checked_unix_ms, ...facts} = record
  return JSON.stringify(facts)
}

function intervalOf(event: Extract<MembershipEvent, {type: 'joined' | 'heartbeat'}>): number | undefined {
  const {next_heartbeat_ms: ms} = (event.type === 'heartbeat' ? event.reply : event.record) as Partial<HeartbeatReply>
  return typeof ms === 'number' && Number.isFinite(ms) ? Math.min(Math.max(ms, minMs), maxMs) : undefined
}

const backoffMs = (intervalMs: number, failures: number, random: () => number) =>
  jittered(Math.min(intervalMs * 2 ** (failures - 1), maxBackoffMs), random)

/** Waits; resolves early if the signal aborts. */
const delay = (ms: number, signal: AbortSignal): Promise<void> => pause(ms, signal).catch(() => undefined)
