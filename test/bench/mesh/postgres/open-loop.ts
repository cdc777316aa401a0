import {setTimeout as sleep} from 'node:timers/promises'
import {routes} from '../../../../src/mesh/index.js'
import {heartbeat} from '../heartbeat.js'
import {type Connection, connectMany, type Target} from '../load.js'
import {nodeId} from '../servers.js'

export const kinds = ['heartbeat', 'message', 'lease'] as const
type Kind = (typeof kinds)[number]
/** Numbers of operations, or operations per second. */
export type Rates = Record<Kind, number>

/** Number of connections. */
export const lanes = 64
const receivers = 1000
const payload = 'x'.repeat(400)

/** A mesh that receives requests. */
export interface Driven {
  nodes: number
  server: Target
  /** Operations so far. */
  done: Rates
}

let sent = 0

const ask = async ({post}: Connection, path: string, body: object) => {
  const answer = await post(path, JSON.stringify(body))
  return answer === '' ? undefined : JSON.parse(answer)
}

export const deliver = (connection: Connection, n: number) =>
  ask(connection, routes.a2a_deliver.path, {
    sender_agent_id: '1000',
    receiver_agent_id: String(1 + (n % receivers)),
    message_type: 'free_form',
    payload,
    idempotency_key: `bench-${++sent}`,
  })

/** One operation of each kind: a heartbeat, or three requests for a message or a lease. */
const operations: Record<Kind, (connection: Connection, node: number, n: number) => Promise<void>> = {
  async heartbeat(connection, node) {
    await connection.post(routes.heartbeat.path, heartbeat(node))
  },
  async message(connection, node, n) {
    await deliver(connection, n)
    const claim = {receiver_agent_id: String(1 + (n % receivers)), claimer_node_id: nodeId(node)}
    let message: {id: number} | undefined
    do message = (await ask(connection, routes.a2a_inbox.path, claim)).messages[0]
    while (message === undefined)
    await ask(connection, routes.a2a_ack.path, {...claim, message_id: message.id})
  },
  async lease(connection, node) {
    const claimer_node_id = nodeId(node)
    const scope_key = `task:${++sent}`
    const {lease_id} = await ask(connection, routes.exec_lease_grant.path, {claimer_node_id, scope_key})
    await ask(connection, routes.exec_lease_renew.path, {claimer_node_id, lease_id})
    await ask(connection, routes.exec_lease_release.path, {claimer_node_id, lease_id})
  },
}

/** Starts operations at fixed rates, whether or not the earlier ones have ended. */
export async function drive({server, nodes, done}: Driven, perSecond: Partial<Rates>, seconds: number): Promise<void> {
  // New connections, because a control plane closes those that are idle for a minute.
  const connections = await connectMany(server, lanes)
  const free = [...connections]
  const started = {heartbeat: 0, message: 0, lease: 0}
  const running = new Set<Promise<unknown>>()
  const begun = performance.now()
  for (;;) {
    const elapsed = Math.min((performance.now() - begun) / 1000, seconds)
    for (const kind of kinds)
      while (started[kind] < Math.floor(elapsed * (perSecond[kind] ?? 0))) {
        while (free.length === 0) await Promise.race(running)
        const connection = free.pop() as Connection
        started[kind]++
        const n = done[kind]++
        // A large stride spreads the heartbeats over all nodes at equal intervals.
        const node = kind === 'heartbeat' ? (n * 7919) % nodes : Math.floor(Math.random() * nodes)
        const operation = operations[kind](connection, node, n).finally(() => {
          running.delete(operation)
          free.push(connection)
        })
        running.add(operation)
      }
    if (elapsed === seconds) break
    await sleep(1)
  }
  await Promise.all(running)
  for (const connection of connections) connection.end()
}
