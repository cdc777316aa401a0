import type {Call} from '../history/history.js'
import type {Ask} from './caller.js'
import type {Stage} from './client-context.js'

/** A process of a node: what it says of itself carries its incarnation and how often it has spoken. */
export interface Member {
  readonly id: string
  /** A new process starts, and joins. */
  join(): Promise<Call>
  /** The same, not yet sent. */
  entry(): Ask
  /** The next heartbeat, not yet sent. */
  beat(): Ask
  leave(): Promise<Call>
}

/** Heartbeats of an incarnation are told apart by what they say of free memory: its number, and theirs within it. */
export const beatsOfIncarnation = 1_000_000

/** Wall clocks of clients are no better than they should be. */
const wrongTimes: readonly [number, ...number[]] = [1, 4_102_444_800_000, 946_684_800_000]

export function createMember(stage: Stage, id: string): Member {
  const {board, scope, random, call} = stage
  let incarnation = 0
  let number = 0
  let seq = 0

  const words = () => ({
    id,
    scope_id: scope,
    incarnation,
    seq,
    memory_free_bytes: number * beatsOfIncarnation + seq,
    last_seen_unix_ms: random.pick(wrongTimes),
  })

  const entry = (): Ask => {
    incarnation = random.integer(0, Number.MAX_SAFE_INTEGER)
    number = board.nextIncarnation()
    seq = 0
    board.nodes.add(id)
    return {operation: 'join', node: id, body: {...words(), version: '0.1.0', capabilities: {cpu_cores: 2}}}
  }

  return {
    id,
    entry,
    join: () => call(entry()),
    beat() {
      seq++
      return {operation: 'heartbeat', node: id, body: words()}
    },
    leave: () => call({operation: 'leave', node: id, body: {id}}),
  }
}
