import {randomBytes} from 'node:crypto'
import type {HeartbeatReply, NodeRecord} from '../protocol/node.js'
import type {MeshClient} from './client.js'
import {MeshHttpError} from './error.js'
import {pause} from './pause.js'
import type {HeartbeatRecord, JoinRecord} from './requests.js'

/** What becomes of a membership, as it happens. Nothing of it has a token. */
export type MembershipEvent =
  | {type: 'joined'; record: NodeRecord}
  | {type: 'heartbeat'; reply: NodeRecord & Partial<HeartbeatReply>}
  /** @property failures one after the other; the next try is in `nextMs` */
  | {type: 'failed'; operation: 'join' | 'heartbeat'; error: MeshHttpError; failures: number; nextMs: number}
  /** The control plane knows the node no more, or may have forgotten it: it joins again. */
  | {type: 'rejoining'}
  /** A newer process has the id of the node; this one is no member any more. */
  | {type: 'replaced'; error: MeshHttpError}

export interface MembershipOptions {
  /** What the node reports of itself, as it is now. */
  record: () => JoinRecord
  /** Seconds between two heartbeats where the control plane names no interval; 0 joins and sends none. */
  heartbeatSecs: number
  /** The agent whose waiting messages each heartbeat asks for. */
  receiverAgentId?: string | undefined
  onEvent?: ((event: MembershipEvent) => void) | undefined
  /** Ends the heartbeats; the node stays until it leaves, or is forgotten. */
  signal?: AbortSignal | undefined
  /** 0 to 1. */
  random?: (() => number) | undefined
}

export interface Membership {
  /** Resolves when the signal aborts, the node has left, or a newer process has taken its place. */
  readonly done: Promise<void>
  /** Ends the heartbeats and leaves. Gives whether the control plane knew the node. @throws MeshHttpError */
  leave(): Promise<boolean>
}

/** Bounds of a wait that a control plane names, and the longest of its own after failures, ms. */
const shortestMs = 100
const longestMs = 3_600_000
const longestBackoffMs = 300_000
/** Interval of those who send no heartbeats, for their tries to join. */
const joinRetryMs = 30_000
/** Failures after which the node joins again instead. */
const failuresToRejoin = 3

/**
 * Joins, and sends heartbeats at the pace that the control plane sets, until the signal aborts. A request that fails
 * is not repeated at once: the next one is that of the next interval, and the intervals grow.
 */
export function startMembership(
  client: Pick<MeshClient, 'join' | 'heartbeat' | 'leave'>,
  options: MembershipOptions,
): Membership {
  const {signal} = options
  const ending = new AbortController()
  const end = () => ending.abort()
  signal?.addEventListener('abort', end, {once: true})
  if (signal?.aborted) end()
  const done = stayMember(client, options, ending.signal).finally(() => signal?.removeEventListener('abort', end))
  return {
    done,
    async leave() {
      end()
      // A heartbeat that came after it would take the node in again.
      await done
      return client.leave(options.record().id)
    },
  }
}

type Joining = Pick<MeshClient, 'join' | 'heartbeat'>

async function stayMember(client: Joining, options: MembershipOptions, signal: AbortSignal): Promise<void> {
  const {onEvent = () => undefined, heartbeatSecs, random = Math.random} = options
  const reporter = new Reporter(client, options, signal)
  let intervalMs = heartbeatSecs === 0 ? joinRetryMs : heartbeatSecs * 1000
  let failures = 0
  while (!signal.aborted)
    try {
      const event = await reporter.report()
      failures = 0
      onEvent(event)
      if (heartbeatSecs === 0) return await untilAborted(signal)
      intervalMs = intervalOf(event) ?? intervalMs
      await rest(jittered(intervalMs, random), signal)
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof MeshHttpError)) throw error
      if (error.isStatus(409)) return onEvent({type: 'replaced', error})
      const {operation} = reporter
      if (operation === 'heartbeat' && (error.isStatus(404) || failures + 1 >= failuresToRejoin)) {
        reporter.rejoin()
        onEvent({type: 'rejoining'})
      }
      // What is not known joins at once.
      if (operation === 'heartbeat' && error.isStatus(404)) continue
      failures++
      const askedMs = Math.min(error.retryAfterMs ?? 0, longestMs)
      const nextMs = Math.max(backoffMs(intervalMs, failures, random), askedMs)
      onEvent({type: 'failed', operation, error, failures, nextMs})
      await rest(nextMs, signal)
    }
}

/** Reports a node: all of its record at first and after a change, else a short heartbeat. */
class Reporter {
  readonly #client: Joining
  readonly #options: MembershipOptions
  readonly #signal: AbortSignal
  /** Which process of the node this is: a random number below 2^53. */
  readonly #incarnation = Number(randomBytes(8).readBigUInt64BE() >> 11n)
  #seq = 0
  #hasJoined = false
  /** What the control plane knows of it. */
  #reported = ''

  constructor(client: Joining, options: MembershipOptions, signal: AbortSignal) {
    this.#client = client
    this.#options = options
    this.#signal = signal
  }

  /** What is sent next. */
  get operation(): 'join' | 'heartbeat' {
    return this.#hasJoined ? 'heartbeat' : 'join'
  }

  rejoin(): void {
    this.#hasJoined = false
  }

  async report(): Promise<Extract<MembershipEvent, {type: 'joined' | 'heartbeat'}>> {
    const record = this.#options.record()
    const facts = lasting(record)
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
    const sent = facts === this.#reported ? {id, ...given({scope_id, cpu_usage_pct, memory_free_bytes})} : record
    return {...sent, ...given({receiver_agent_id})}
  }
}

/** What of a record does not change from one heartbeat to the next, as text to compare. */
function lasting(record: JoinRecord): string {
  const {cpu_usage_pct, memory_free_bytes, gpu_readiness_checked_unix_ms, ...facts} = record
  return JSON.stringify(facts)
}

/** Without the members that are undefined. */
const given = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

function intervalOf(event: Extract<MembershipEvent, {type: 'joined' | 'heartbeat'}>): number | undefined {
  const {next_heartbeat_ms: ms} = (event.type === 'heartbeat' ? event.reply : event.record) as Partial<HeartbeatReply>
  return typeof ms === 'number' && Number.isFinite(ms) ? Math.min(Math.max(ms, shortestMs), longestMs) : undefined
}

/** Give or take a tenth, so that nodes which started together do not send together. */
const jittered = (ms: number, random: () => number) => ms * (0.9 + random() / 5)

const backoffMs = (intervalMs: number, failures: number, random: () => number) =>
  jittered(Math.min(intervalMs * 2 ** (failures - 1), longestBackoffMs), random)

/** Waits, or until the signal aborts. */
const rest = (ms: number, signal: AbortSignal): Promise<void> => pause(ms, signal).catch(() => undefined)

function untilAborted(signal: AbortSignal): Promise<void> {
  // Nothing else may keep the process.
  const hold = setInterval(() => undefined, longestMs)
  return new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), {once: true})
  }).finally(() => clearInterval(hold))
}
