import {createHash} from 'node:crypto'
import type pg from 'pg'
import {median, round} from '../../../../src/bench/measure.js'
import {routes} from '../../../../src/mesh/index.js'
import {runSql} from '../../../support/postgres.js'
import {type Connection, connectMany, throughput} from '../load.js'
import {limits, nodeId, startBareServer} from '../servers.js'
import {connectDirectly, createMesh, databaseMs, startReplica} from './servers.js'

const lanes = 32
const receivers = 8
/** Messages per round: per client, and for a single client. */
const many = 12
const alone = 60
const warmUp = 3
const rounds = 21

const payload = 'x'.repeat(400)

let sent = 0

/** The requests of a client: they answer with the id of a message, if there is one. */
interface Client {
  deliver(receiver: string, key: string): Promise<unknown>
  claim(receiver: string, node: string): Promise<number | undefined>
  ack(receiver: string, node: string, message: number): Promise<unknown>
}

/**
 * Delivers a message, then claims and acknowledges one of the same receiver.
 * @param times times of the requests, ms
 */
async function passOn({deliver, claim, ack}: Client, lane: number, times: number[] = []): Promise<void> {
  const receiver = String(1 + (lane % receivers))
  const node = nodeId(lane)
  const timed = async <T>(request: Promise<T>): Promise<T> => {
    const started = performance.now()
    const answer = await request
    times.push(performance.now() - started)
    return answer
  }
  await timed(deliver(receiver, `bench-${++sent}`))
  // A claim skips messages that are being claimed, and finds nothing if the others were delivered after it began.
  let message: number | undefined
  do message = await timed(claim(receiver, node))
  while (message === undefined)
  await timed(ack(receiver, node, message))
}

const ask = async ({post}: Connection, path: string, body: object) => {
  const answer = await post(path, JSON.stringify(body))
  return answer === '' ? undefined : JSON.parse(answer)
}

/** Sends requests over HTTP, in turn to several control planes. */
function overHttp(connections: readonly Connection[]): Client {
  let next = 0
  const send = (path: string, body: object) => ask(connections[next++ % connections.length] as Connection, path, body)
  return {
    deliver: (receiver_agent_id, idempotency_key) =>
      send(routes.a2a_deliver.path, {
        sender_agent_id: '1000',
        receiver_agent_id,
        message_type: 'free_form',
        payload,
        idempotency_key,
      }),
    async claim(receiver_agent_id, claimer_node_id) {
      return (await send(routes.a2a_inbox.path, {receiver_agent_id, claimer_node_id})).messages[0]?.id
    },
    ack: (receiver_agent_id, claimer_node_id, message_id) =>
      send(routes.a2a_ack.path, {receiver_agent_id, message_id, claimer_node_id}),
  }
}

/** Runs the plain statements, each in a transaction of its own. */
function directly(pool: pg.Pool): Client {
  const digest = createHash('sha256').update(payload).digest()
  const run = async (name: string, text: string, values: unknown[]) =>
    (await pool.query<{id: string}>({name, text, values})).rows[0]
  return {
    deliver: (receiver, key) =>
      run(
        'deliver',
        `INSERT INTO mesh_messages (id, scope_id, sender, receiver, type, priority, created_at, idem_key, body_sha256, payload)
VALUES (nextval('mesh_message_id'), '', '1000', $1, 'free_form', 128, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING id`,
        [receiver, Date.now(), key, digest, Buffer.from(payload)],
      ),
    async claim(receiver, node) {
      const now = Date.now()
      const row = await run(
        'claim',
        `UPDATE mesh_messages SET holder = $1, lease_expires = $2, attempts = attempts + 1
WHERE id = (SELECT id FROM mesh_messages WHERE scope_id = '' AND receiver = $3 AND acked_at IS NULL AND dead_at IS NULL
  AND (holder IS NULL OR lease_expires <= $4) ORDER BY priority DESC, id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING *`,
        [node, now + limits.leaseMs, receiver, now],
      )
      return row && Number(row.id)
    },
    ack: (_receiver, node, message) =>
      run(
        'ack',
        `UPDATE mesh_messages SET acked_at = $1, holder = NULL, lease_expires = NULL, payload = ''
WHERE id = $2 AND holder = $3 RETURNING id`,
        [Date.now(), message, node],
      ),
  }
}

/** The same measurements of a kind of client, of each round. */
interface Run {
  clients: readonly Client[]
  /** Processor time of the control planes so far, ms. */
  processorMs(): number
  perSecond: number[]
  /** Processor time of the control planes and of the database server per request, µs. */
  nodeCost: number[]
  databaseCost: number[]
  /** Median time of a request of a single client, ms, and its cost. */
  alone: number[]
  aloneCost: number[]
}

const runOf = (clients: readonly Client[], processorMs = () => 0): Run => ({
  ...{clients, processorMs},
  ...{perSecond: [], nodeCost: [], databaseCost: [], alone: [], aloneCost: []},
})

async function measure({clients, processorMs, ...into}: Run): Promise<void> {
  let [node, database] = [processorMs(), databaseMs()]
  const cost = (messages: number) => {
    const spent = [processorMs() - node, databaseMs() - database].map((ms) => (ms * 1000) / (3 * messages))
    ;[node, database] = [processorMs(), databaseMs()]
    return spent as [number, number]
  }
  into.perSecond.push(3 * (await throughput(clients, many, (client, lane) => passOn(client, lane))))
  const [nodeCost, databaseCost] = cost(many * clients.length)
  into.nodeCost.push(nodeCost)
  into.databaseCost.push(databaseCost)
  const times: number[] = []
  for (let n = 0; n < alone; n++) await passOn(clients[0] as Client, 0, times)
  into.alone.push(median(times))
  into.aloneCost.push(cost(alone).reduce((sum, each) => sum + each))
}

/** Median time of a request to a fastify server that only answers, ms: what HTTP adds at least. */
async function bareMs({post}: Connection): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < alone; n++) {
    const started = performance.now()
    await post(routes.heartbeat.path, JSON.stringify({id: nodeId(n), payload}))
    times.push(performance.now() - started)
  }
  return median(times)
}

const ratio = (ones: readonly number[], others: readonly number[]) =>
  round(median(ones.map((one, i) => one / (others[i] as number))), 3)

/**
 * Delivers, claims and acknowledges messages over HTTP: 32 clients, then a single one, whose requests are never merged.
 * They use one control plane, or two in turn. They are compared with the plain statements, which are sent directly over
 * eight connections to a database with only the necessary indexes. A single client is also compared with the statements
 * plus a request to a server that only answers.
 */
export async function meshPostgres() {
  const url = await createMesh(lanes)
  const directUrl = await createMesh(lanes)
  await runSql(directUrl, 'DROP INDEX mesh_messages_held, mesh_messages_dead, mesh_messages_given_up')
  const replicas = [await startReplica(url), await startReplica(url)]
  const [ones = [], others = []] = await Promise.all(replicas.map((replica) => connectMany(replica, lanes)))
  const pool = connectDirectly(directUrl, 8)
  const bare = await startBareServer(payload.length)
  const [bareConnection] = await connectMany(bare, 1)
  const bareAlone: number[] = []
  const cost = (used: typeof replicas) => () => used.reduce((sum, {processorMs}) => sum + processorMs(), 0)
  const runs = {
    one: runOf(
      ones.map((connection) => overHttp([connection])),
      cost(replicas.slice(0, 1)),
    ),
    two: runOf(
      ones.map((connection, i) => overHttp([connection, others[i] as Connection])),
      cost(replicas),
    ),
    direct: runOf(ones.map(() => directly(pool))),
  }
  try {
    for (let n = -warmUp; n < rounds; n++) {
      for (const run of Object.values(runs)) await measure(run)
      const bareTime = await bareMs(bareConnection as Connection)
      if (n >= 0) {
        bareAlone.push(bareTime)
        continue
      }
      for (const {clients: _, processorMs: __, ...all} of Object.values(runs))
        for (const values of Object.values(all)) values.length = 0
    }
  } finally {
    for (const connection of [...ones, ...others, bareConnection]) connection?.end()
    await Promise.all([...[...replicas, bare].map((server) => server.stop()), pool.end()])
  }
  const {one, two, direct} = runs
  const costOf = ({nodeCost, databaseCost}: Run) => nodeCost.map((each, i) => each + (databaseCost[i] as number))
  return {
    connections: lanes,
    http_per_s: Math.round(median(one.perSecond)),
    direct_per_s: Math.round(median(direct.perSecond)),
    http_to_direct: ratio(one.perSecond, direct.perSecond),
    two_replicas_to_direct: ratio(two.perSecond, direct.perSecond),
    alone_ms: round(median(one.alone), 2),
    direct_alone_ms: round(median(direct.alone), 2),
    bare_alone_ms: round(median(bareAlone), 2),
    alone_to_direct: ratio(one.alone, direct.alone),
    alone_to_direct_and_bare: ratio(
      one.alone,
      direct.alone.map((ms, i) => ms + (bareAlone[i] as number)),
    ),
    node_cpu_us: round(median(one.nodeCost)),
    database_cpu_us: round(median(one.databaseCost)),
    two_replicas_node_cpu_us: round(median(two.nodeCost)),
    two_replicas_database_cpu_us: round(median(two.databaseCost)),
    direct_database_cpu_us: round(median(direct.databaseCost)),
    two_replicas_to_one_cpu: ratio(costOf(two), costOf(one)),
    alone_cpu_us: round(median(one.aloneCost)),
    direct_alone_cpu_us: round(median(direct.aloneCost)),
    two_replicas_to_one_alone_cpu: ratio(two.aloneCost, one.aloneCost),
  }
}
