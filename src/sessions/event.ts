import {type SessionState, sessionStates, type Turn} from './session.js'

/**
 * The journal events of a session. Times are Unix seconds. A compaction keeps the first `head` and the last `tail` turns.
 */
export type SessionEvent =
  | {event: 'created'; session_id: string; agent_id: string; tenant_id: string | null; created_at: number}
  | ({event: 'turn_added'} & Turn)
  | {event: 'state_changed'; from: SessionState; to: SessionState; at: number}
  | {event: 'meta_updated'; key: string; value: string; at: number}
  | {event: 'plugin_state_updated'; plugin_id: string; state: unknown; at: number}
  | {event: 'reset'; at: number}
  | {event: 'compacted'; summary: string; turns_removed: number; head?: number; tail?: number; at: number}
  | {event: 'expensive_op_recorded'; at: number}

export type CreatedEvent = Extract<SessionEvent, {event: 'created'}>

type Check = (value: unknown) => boolean

const text: Check = (value) => typeof value === 'string'
const textOrNull: Check = (value) => value === null || text(value)
const time: Check = (value) => Number.isFinite(value)
const state: Check = (value) => sessionStates.some((word) => word === value)
const json: Check = (value) => value !== undefined
/** A number of tokens or turns. */
export const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

const optionalCount: Check = (value) => value === undefined || isCount(value)

const members: Readonly<Record<SessionEvent['event'], Readonly<Record<string, Check>>>> = {
  created: {session_id: text, agent_id: text, tenant_id: textOrNull, created_at: time},
  turn_added: {role: text, content: text, tokens: isCount, at: time},
  state_changed: {from: state, to: state, at: time},
  meta_updated: {key: text, value: text, at: time},
  plugin_state_updated: {plugin_id: text, state: json, at: time},
  reset: {at: time},
  compacted: {summary: text, turns_removed: isCount, head: optionalCount, tail: optionalCount, at: time},
  expensive_op_recorded: {at: time},
}

/** Parses an event from JSON; undefined if it is invalid. Unknown members are ignored. */
export function parseEvent(json: string): SessionEvent | undefined {
  const value = parseJson(json)
  if (typeof value !== 'object' || value === null) return undefined
  const record = value as Readonly<Record<string, unknown>>
  const {event} = record
  if (typeof event !== 'string' || !Object.hasOwn(members, event)) return undefined
  const checks = Object.entries(members[event as SessionEvent['event']])
  return checks.every(([name, fits]) => fits(record[name])) ? (value as SessionEvent) : undefined
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
