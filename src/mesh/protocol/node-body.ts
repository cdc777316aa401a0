import {bodyOf, type Read, readerOf} from './member.js'
import {factMembers, type Incarnation, joinMembers, type NodeFacts} from './node.js'
import {agentId, flag, integer, word} from './types.js'

/** Members that accompany the facts of a node. */
const envelope = {
  scope_id: word(256),
  incarnation: integer(),
  seq: integer(),
} as const

const join = bodyOf({
  ...joinMembers,
  ...envelope,
  maintenance: flag,
  maintenance_until_unix_ms: integer(),
})

const heartbeat = bodyOf(factMembers)
const besidesHeartbeat = readerOf({...envelope, receiver_agent_id: agentId})

export interface JoinBody extends Partial<Incarnation> {
  facts: NodeFacts
  scope: string | undefined
  maintenance: {on: boolean; untilMs?: number | undefined} | undefined
}

/** @throws invalid_json, missing_field */
export function readJoin(body: unknown): JoinBody {
  const {scope_id, incarnation, seq, maintenance, maintenance_until_unix_ms: untilMs, ...facts} = join(body)
  const isSet = maintenance !== undefined
  return withIncarnation(
    {facts, scope: scope_id, maintenance: isSet ? {on: maintenance, untilMs} : undefined},
    incarnation,
    seq,
  )
}

export interface HeartbeatBody extends Partial<Incarnation> {
  facts: Partial<NodeFacts> & {id: string}
  /** True if the facts are a complete record, with capabilities and version. */
  isFull: boolean
  scope: string | undefined
  /** Agent whose pending messages are counted in the response. */
  receiver: string | undefined
}

/** @throws invalid_json, missing_field, invalid_agent_id */
export function readHeartbeat(body: unknown): HeartbeatBody {
  const facts = heartbeat(body)
  const {scope_id, incarnation, seq, receiver_agent_id} = besidesHeartbeat(body as object)
  const isFull = facts.capabilities !== undefined && facts.version !== undefined
  return withIncarnation({facts, isFull, scope: scope_id, receiver: receiver_agent_id}, incarnation, seq)
}

/** Mutates the body: copying it would double the cost of a heartbeat. */
function withIncarnation<T extends object>(
  body: T & Partial<Incarnation>,
  incarnation: number | undefined,
  seq: number | undefined,
): T & Partial<Incarnation> {
  if (incarnation !== undefined) body.incarnation = incarnation
  if (seq !== undefined) body.seq = seq
  return body
}

export const readLeave: (body: unknown) => Read<{id: typeof factMembers.id}> = bodyOf({id: factMembers.id})
