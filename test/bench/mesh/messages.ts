import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {median, round} from '../../../src/bench/measure.js'
import {openSqliteMeshStore, routes} from '../../../src/mesh/index.js'
import {Driver} from '../../support/sqlite.js'
import {type Connection, connectMany, throughput} from './load.js'
import {limits, nodeId, startControlPlane} from './servers.js'

const lanes = 32
/** Messages per round: per connection, for a single connection, and for the bare statements. */
const many = 15
const alone = 60
const direct = 60
const warmUp = 2
const rounds = 15

const payload = JSON.stringify({task: 'x'.repeat(900)})

let sent = 0

/** Delivers, claims and acknowledges a message: three requests. Each connection has its own receiver. */
async function passOn(connection: Connection, lane: number): Promise<void> {
  const receiver_agent_id = String(lane + 1)
  const claimer_node_id = nodeId(lane)
  const ask = async (path: string, body: object) => {
    const answer = await connection.post(path, JSON.stringify(body))
    return answer === '' ? undefined : JSON.parse(answer)
  }
  const {message_id} = await ask(routes.a2a_deliver.path, {
    sender_agent_id: '1000',
    receiver_agent_id,
    message_type: 'free_form',
    payload,
    idempotency_key: `bench-${++sent}`,
  })
  const {messages} = await ask(routes.a2a_inbox.path, {receiver_agent_id, claimer_node_id})
  if (messages[0]?.id !== message_id) throw new Error(`${message_id} was sent, ${messages[0]?.id} was claimed`)
  await ask(routes.a2a_ack.path, {receiver_agent_id, message_id, claimer_node_id})
}

/** The three statements on the tables of a store, each in a transaction that is flushed to disk. */
async function statements() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const path = join(folder, 'mesh.db')
  await (await openSqliteMeshStore(path, limits)).close()
  const database = new Driver(path)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  const insert = database.prepare<unknown[], {id: number}>(
    `INSERT INTO mesh_messages (scope_id, sender, receiver, type, payload, priority, idem_key, body_sha256, created_at)
VALUES ('', '1000', '1', 'free_form', ?, 128, ?, x'00', ?) RETURNING id`,
  )
  const claim = database.prepare<unknown[], {id: number}>(
    `UPDATE mesh_messages SET holder = 'node', lease_expires = ?, attempts = attempts + 1
WHERE id = (SELECT id FROM mesh_messages WHERE scope_id = '' AND receiver = '1' AND acked_at IS NULL AND dead_at IS NULL
  AND holder IS NULL ORDER BY priority DESC, id LIMIT 1) RETURNING *`,
  )
  const ack = database.prepare(
    'UPDATE mesh_messages SET acked_at = ?, holder = NULL, lease_expires = NULL WHERE id = ? AND holder = ?',
  )
  return {
    rate() {
      const started = performance.now()
      for (let i = 0; i < direct; i++) {
        const now = Date.now()
        const inserted = insert.get(payload, `bench-${++sent}`, now)
        const claimed = claim.get(now + limits.leaseMs)
        if (claimed?.id !== inserted?.id || ack.run(now, claimed?.id, 'node').changes !== 1)
          throw new Error('another message was claimed')
      }
      return (direct * 1000) / (performance.now() - started)
    },
    async close() {
      database.close()
      await rm(folder, {recursive: true})
    },
  }
}

/**
 * Delivers, claims and acknowledges messages over HTTP, with many concurrent clients and with one, compared with the
 * three statements in sequence. The flush to disk dominates; concurrent requests share it.
 */
export async function meshMessages() {
  const mesh = await startControlPlane(lanes)
  const connections = await connectMany(mesh, lanes)
  const {rate, close} = await statements()
  const rates = {many: [] as number[], alone: [] as number[], direct: [] as number[]}
  try {
    for (let n = -warmUp; n < rounds; n++) {
      const measured = {
        many: await throughput(connections, many, passOn),
        alone: await throughput(connections.slice(0, 1), alone, passOn),
        direct: rate(),
      }
      if (n < 0) continue
      for (const name of ['many', 'alone', 'direct'] as const) rates[name].push(measured[name])
    }
  } finally {
    for (const connection of connections) connection.end()
    await Promise.all([mesh.stop(), close()])
  }
  const toDirect = (one: readonly number[]) =>
    round(median(one.map((value, i) => value / (rates.direct[i] as number))), 3)
  return {
    connections: lanes,
    http_per_s: Math.round(median(rates.many)),
    http_alone_per_s: Math.round(median(rates.alone)),
    direct_per_s: Math.round(median(rates.direct)),
    http_to_direct: toDirect(rates.many),
    http_alone_to_direct: toDirect(rates.alone),
  }
}
