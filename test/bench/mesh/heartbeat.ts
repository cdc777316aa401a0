import {routes} from '../../../src/mesh/index.js'
import {median, round} from '../measure.js'
import {type Connection, connectMany, throughput} from './load.js'
import {processorMs} from './processor.js'
import {nodeId, type Server, startBareServer, startControlPlane} from './servers.js'

const lanes = 64
/** Heartbeats of each connection in one round: some tenths of a second, so that both sides see the same machine. */
const beats = 100
const warmUp = 8

/** A server that is sent heartbeats, and what was seen of it in each round. */
interface Run {
  nodes: number
  /** Heartbeats of each connection before this round. */
  beaten: number
  server: Server
  connections: Connection[]
  perSecond: number[]
  /** Processor time of the server for one heartbeat, µs. */
  cost: number[]
}

const runOf = async (server: Server, nodes: number): Promise<Run> => ({
  nodes,
  beaten: 0,
  server,
  connections: await connectMany(server, lanes),
  perSecond: [],
  cost: [],
})

let sent = 0

/** A slim heartbeat, the next one of its node. */
const heartbeat = (node: number) =>
  JSON.stringify({
    id: nodeId(node),
    incarnation: 7_199_254_740_991,
    seq: ++sent,
    cpu_usage_pct: 12.5,
    memory_free_bytes: 34_359_738_368,
  })

/**
 * Sends one round. Each connection has nodes of its own, as in life, and goes through them by a stride that leads to all
 * of them: no heartbeat comes late, and none finds its node in a cache for the reason that its neighbour was there.
 */
async function beat(run: Run): Promise<void> {
  const {nodes, beaten, server, connections, perSecond, cost} = run
  const own = (lane: number) => Math.ceil((nodes - lane) / lanes)
  const before = processorMs(server.pid)
  const rate = await throughput(connections, beats, async (connection, lane, n) => {
    await connection.post(routes.heartbeat.path, heartbeat(lane + lanes * (((beaten + n) * 7919) % own(lane))))
  })
  run.beaten += beats
  perSecond.push(rate)
  cost.push(((processorMs(server.pid) - before) * 1000) / (lanes * beats))
}

/** Rounds on several servers in turn, so that a machine whose speed drifts treats all alike. */
async function beatInTurn(runs: readonly Run[], rounds: number): Promise<void> {
  for (let n = 0; n < warmUp; n++) for (const one of runs) await beat(one)
  for (const {perSecond, cost} of runs) perSecond.length = cost.length = 0
  for (let n = 0; n < rounds; n++) for (const one of runs) await beat(one)
}

async function stop(runs: readonly Run[]): Promise<void> {
  for (const {connections} of runs) for (const connection of connections) connection.end()
  await Promise.all(runs.map(({server}) => server.stop()))
}

const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length

/** The median of what one is to the other, round by round. */
const ratio = (ones: readonly number[], others: readonly number[]) =>
  round(median(ones.map((one, i) => one / (others[i] as number))), 3)

/**
 * Heartbeats over HTTP, with a token and with a thousand nodes, beside fastify that reads the same body and answers as
 * many bytes without a store. `mesh_to_bare` is what both get done in a second, where the one that asks has to share the
 * machine with them; `bare_to_mesh_cpu` is the processor time of both for one heartbeat, and knows nothing of the others.
 */
export async function meshHeartbeat() {
  const nodes = 1000
  const mesh = await runOf(await startControlPlane(nodes), nodes)
  const answer = await (mesh.connections[0] as Connection).post(routes.heartbeat.path, heartbeat(0))
  const bare = await runOf(await startBareServer(Buffer.byteLength(answer)), nodes)
  try {
    await beatInTurn([mesh, bare], 31)
  } finally {
    await stop([mesh, bare])
  }
  return {
    nodes,
    connections: lanes,
    answer_bytes: Buffer.byteLength(answer),
    mesh_per_s: Math.round(median(mesh.perSecond)),
    bare_per_s: Math.round(median(bare.perSecond)),
    mesh_to_bare: ratio(mesh.perSecond, bare.perSecond),
    mesh_cpu_us: round(median(mesh.cost)),
    bare_cpu_us: round(median(bare.cost)),
    bare_to_mesh_cpu: ratio(bare.cost, mesh.cost),
  }
}

/**
 * What a heartbeat costs as the mesh grows. Means, not medians: now and then a control plane brings what it has noted
 * into the rows of its nodes, which takes longer the more there are. So every node beats often enough to see that.
 */
export async function meshHeartbeatScale() {
  const sizes = [100, 1000, 10_000, 100_000]
  const beatsPerNode = 5
  const runs: Run[] = []
  try {
    for (const nodes of sizes) runs.push(await runOf(await startControlPlane(nodes), nodes))
    await beatInTurn(runs, Math.ceil((beatsPerNode * Math.max(...sizes)) / (lanes * beats)))
  } finally {
    await stop(runs)
  }
  const wallUs = runs.map(({perSecond}) => mean(perSecond.map((rate) => 1e6 / rate)))
  const cpuUs = runs.map(({cost}) => mean(cost))
  const bySize = (values: readonly number[]) =>
    Object.fromEntries(sizes.map((nodes, i) => [nodes, round(values[i] as number)]))
  const largestToSmallest = (values: readonly number[]) => round((values.at(-1) as number) / (values[0] as number), 3)
  return {
    connections: lanes,
    us_per_heartbeat: bySize(wallUs),
    cpu_us_per_heartbeat: bySize(cpuUs),
    largest_to_smallest: largestToSmallest(wallUs),
    largest_to_smallest_cpu: largestToSmallest(cpuUs),
  }
}
