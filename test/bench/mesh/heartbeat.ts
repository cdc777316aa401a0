import {median, round} from '../../../src/bench/measure.js'
import {routes} from '../../../src/mesh/index.js'
import {type Connection, connectMany, throughput} from './load.js'
import {nodeId, type Server, startBareServer, startControlPlane} from './servers.js'

const lanes = 64
/**
 * Heartbeats per connection and round. Rounds last some tenths of a second, so that the load of the machine is the same
 * for both.
 */
const beats = 100
const warmUp = 8

/** A server that receives heartbeats, and the measurements of each round. */
export interface Run {
  nodes: number
  /** Heartbeats per connection before this round. */
  beaten: number
  server: Server
  connections: Connection[]
  perSecond: number[]
  /** Processor time of the server, and of its database server, per heartbeat, µs. */
  cost: number[]
}

export const runOf = async (server: Server, nodes: number): Promise<Run> => ({
  nodes,
  beaten: 0,
  server,
  connections: await connectMany(server, lanes),
  perSecond: [],
  cost: [],
})

let sent = 0

/** The next short heartbeat of a node. */
export const heartbeat = (node: number) =>
  JSON.stringify({
    id: nodeId(node),
    incarnation: 7_199_254_740_991,
    seq: ++sent,
    cpu_usage_pct: 12.5,
    memory_free_bytes: 34_359_738_368,
  })

/**
 * Sends one round. Each connection has its own nodes and visits all of them with a large stride, so that no node
 * becomes stale and none is cached because of its neighbour.
 */
async function beat(run: Run): Promise<void> {
  const {nodes, beaten, server, connections, perSecond, cost} = run
  const own = (lane: number) => Math.ceil((nodes - lane) / lanes)
  const before = server.processorMs()
  const rate = await throughput(connections, beats, async (connection, lane, n) => {
    await connection.post(routes.heartbeat.path, heartbeat(lane + lanes * (((beaten + n) * 7919) % own(lane))))
  })
  run.beaten += beats
  perSecond.push(rate)
  cost.push(((server.processorMs() - before) * 1000) / (lanes * beats))
}

/**
 * Alternates rounds between several servers, so that changes in the speed of the machine affect all of them equally.
 */
export async function beatInTurn(runs: readonly Run[], rounds: number): Promise<void> {
  for (let n = 0; n < warmUp; n++) for (const one of runs) await beat(one)
  for (const {perSecond, cost} of runs) perSecond.length = cost.length = 0
  for (let n = 0; n < rounds; n++) for (const one of runs) await beat(one)
}

export async function stop(runs: readonly Run[]): Promise<void> {
  for (const {connections} of runs) for (const connection of connections) connection.end()
  await Promise.all(runs.map(({server}) => server.stop()))
}

export const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length

/** The median of the ratios of corresponding rounds. */
export const ratio = (ones: readonly number[], others: readonly number[]) =>
  round(median(ones.map((one, i) => one / (others[i] as number))), 3)

/**
 * Heartbeats over HTTP with a token and a thousand nodes, compared with a fastify server that reads the same body and
 * returns as many bytes without a store. `mesh_to_bare` is the ratio of requests per second, which includes the load of
 * the client on the same machine. `bare_to_mesh_cpu` is the ratio of processor times per heartbeat without the client.
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
 * Cost of a heartbeat by size of the mesh. Uses means instead of medians, because the control plane occasionally writes
 * its buffered heartbeats to the rows of the nodes, which takes longer for more nodes. Each node sends enough
 * heartbeats to include that.
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
