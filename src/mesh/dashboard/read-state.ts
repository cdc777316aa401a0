import {SvcError} from '../../errors/index.js'
import type {MeshClient} from '../client/client.js'
import {MeshHttpError} from '../client/error.js'
import {everyNode, timesOf} from '../client/every-node.js'
import {redactAll} from '../client/redactor.js'
import type {CallOptions} from '../client/requests.js'
import type {QueueStats} from '../protocol/message.js'
import {nodeRow} from './node-row.js'
import type {DashboardState, DeadRow, NodeRow, Part} from './view.js'

/** Without retries, so that a user sees errors quickly. */
export const singleAttempt: CallOptions = {retry: false, timeoutMs: 5000}

export interface ReadOptions {
  /** Age from which a node is stale, ms; 0 disables the check. */
  staleAfterMs: number
  /** Local clock, Unix ms. */
  now: () => number
}

/** Result of a poll, and input of the next one. */
export interface Reading {
  state: DashboardState
  /** Lead of the control plane's clock over the local one, ms. */
  aheadMs: number
  /** Local time of the last response, Unix ms. */
  answeredMs?: number | undefined
}

/** Maximum number of displayed nodes. */
const maxNodes = 10_000

/** Maximum number of displayed dead messages, and of characters of their payloads. */
const maxDead = 50
const maxPayloadLength = 200

/**
 * Reads all displayed data. A part that cannot be read keeps its last value; a part that the token may not read is
 * marked as denied. Tokens are redacted.
 */
export async function readState(
  client: MeshClient,
  before: Reading | undefined,
  options: ReadOptions,
): Promise<Reading> {
  const {now} = options
  const [nodes, leases, queue] = await Promise.all([
    attempt(readNodes(client, options)),
    attempt(client.listLeases(singleAttempt)),
    attempt(client.queueStats(singleAttempt)),
  ])
  const dead = 'value' in queue ? await attempt(readDead(client, queue.value)) : queue
  const outcomes = [nodes, leases, queue, dead]
  const errors = outcomes.flatMap((outcome) => ('error' in outcome ? [outcome.error] : []))
  const failure = errors.find((error) => !isDenied(error))
  const answers = errors.length < outcomes.length || errors.some((error) => statusOf(error) !== undefined)
  const answeredMs = answers ? now() : before?.answeredMs
  const old = before?.state
  const state: DashboardState = {
    control: {
      url: client.baseUrl,
      answers,
      ...(failure === undefined ? {} : {fault: SvcError.from(failure).message}),
      // Omitted while the control plane responds, because it would make every state different.
      ...(answers || answeredMs === undefined ? {} : {answered_unix_ms: answeredMs}),
    },
    ...named('nodes', 'value' in nodes ? nodes.value.part : partOf(nodes.error, old?.nodes)),
    ...named('leases', 'value' in leases ? {known: leases.value} : partOf(leases.error, old?.leases)),
    ...named('queue', 'value' in queue ? {known: queue.value} : partOf(queue.error, old?.queue)),
    ...named('dead', 'value' in dead ? dead.value : partOf(dead.error, old?.dead)),
  }
  const aheadMs = 'value' in nodes ? nodes.value.aheadMs : (before?.aheadMs ?? 0)
  return {state: redactAll(state, client.redact), aheadMs, answeredMs}
}

async function readNodes(
  client: MeshClient,
  {now, staleAfterMs}: ReadOptions,
): Promise<{part: Part<NodeRow[]>; aheadMs: number}> {
  const registry = await everyNode(client, {max: maxNodes}, singleAttempt)
  const {nodes, truncated, server_time_unix_ms: clockMs} = registry
  const nowMs = now()
  const times = timesOf({...registry, server_time_unix_ms: clockMs ?? nowMs}, staleAfterMs)
  const known = nodes.map((record) => nodeRow(record, times))
  return {part: {known, ...(truncated ? {truncated} : {})}, aheadMs: times.atMs - nowMs}
}

/** Payloads may be large, so nothing is requested if there are no dead messages. */
async function readDead(client: MeshClient, {dead_count: count}: QueueStats): Promise<Part<DeadRow[]>> {
  if (count === 0) return {known: []}
  const {messages, next_cursor: next} = await client.listDead({limit: maxDead}, singleAttempt)
  const known = messages.map(({id, sender_agent_id, receiver_agent_id, message_type, dead_unix_ms, payload}) => ({
    id,
    sender_agent_id,
    receiver_agent_id,
    message_type,
    dead_unix_ms,
    payload: payload.slice(0, maxPayloadLength),
  }))
  return {known, ...(next === undefined ? {} : {truncated: true})}
}

type ReadOutcome<T> = {value: T} | {error: unknown}

const attempt = <T>(work: Promise<T>): Promise<ReadOutcome<T>> =>
  work.then(
    (value) => ({value}),
    (error: unknown) => ({error}),
  )

const statusOf = (error: unknown) => (error instanceof MeshHttpError ? error.status : undefined)

const isDenied = (error: unknown) => [401, 403].includes(statusOf(error) ?? 0)

const partOf = <T>(error: unknown, old: Part<T> | undefined): Part<T> | undefined =>
  isDenied(error) ? {denied: SvcError.from(error).message} : old

const named = <Name extends string, T>(name: Name, part: Part<T> | undefined) =>
  (part === undefined ? {} : {[name]: part}) as {[name in Name]?: Part<T>}
