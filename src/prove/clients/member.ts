import type {Call} from '../history/history.js'
import type {ClientRequest} from './caller.js'
import type {ClientContext} from './client-context.js'

/** Process of a node. Its reports contain its incarnation and a sequence number. */
export interface Member {
  readonly id: string
  /** Starts a new incarnation and joins. */
  join(): Promise<Call>
  /** Starts a new incarnation and returns its join request. */
  entry(): ClientRequest
  heartbeat(): ClientRequest
  leave(): Promise<Call>
}

/** The reported free memory encodes the incarnation and heartbeat number: `incarnation * this + heartbeat`. */
export const heartbeatsPerIncarnation = 1_000_000

/** Wrong client times, which the server must ignore, Unix ms. */
const wrongTimes: readonly [number, ...number[]] = [1, 4_102_444_800_000, 946_684_800_000]

export function createMember(context: ClientContext, id: string): Member {
  const {shared, scope, random, call} = context
  let incarnation = 0
  let number = 0
  let seq = 0

  const report = () => ({
    id,
    scope_id: scope,
    incarnation,
    seq,
    memory_free_bytes: number * heartbeatsPerIncarnation + seq,
    last_seen_unix_ms: random.pick(wrongTimes),
  })

  const entry = (): ClientRequest => {
    incarnation = random.integer(0, Number.MAX_SAFE_INTEGER)
    number = shared.nextIncarnation()
    seq = 0
    shared.nodes.add(id)
    return {operation: 'join', node: id, body: {...report(), version: '0.1.0', capabilities: {cpu_cores: 2}}}
  }

  return {
    id,
    entry,
    join: () => call(entry()),
    heartbeat() {
      seq++
      return {operation: 'heartbeat', node: id, body: report()}
    },
    leave: () => call({operation: 'leave', node: id, body: {id}}),
  }
}
