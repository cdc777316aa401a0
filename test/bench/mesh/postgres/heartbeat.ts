import {median, round} from '../../../../src/bench/measure.js'
import {routes} from '../../../../src/mesh/index.js'
import {beatInTurn, heartbeat, mean, type Run, ratio, runOf, stop} from '../heartbeat.js'
import type {Connection} from '../load.js'
import {startBareServer} from '../servers.js'
import {createMesh, databaseMs, startReplica} from './servers.js'

/** A control plane whose processor time includes that of the database server. */
async function runWith(nodes: number): Promise<Run> {
  const server = await startReplica(await createMesh(nodes))
  return runOf({...server, processorMs: () => server.processorMs() + databaseMs()}, nodes)
}

/** Heartbeats of ten thousand nodes, compared with a fastify server like `mesh-heartbeat`. */
export async function meshPostgresHeartbeat() {
  const nodes = 10_000
  const mesh = await runWith(nodes)
  const answer = await (mesh.connections[0] as Connection).post(routes.heartbeat.path, heartbeat(0))
  const bare = await runOf(await startBareServer(Buffer.byteLength(answer)), nodes)
  try {
    await beatInTurn([mesh, bare], 31)
  } finally {
    await stop([mesh, bare])
  }
  return {
    nodes,
    mesh_per_s: Math.round(median(mesh.perSecond)),
    bare_per_s: Math.round(median(bare.perSecond)),
    mesh_to_bare: ratio(mesh.perSecond, bare.perSecond),
    mesh_cpu_us: round(median(mesh.cost)),
    bare_cpu_us: round(median(bare.cost)),
  }
}

/** Processor time per heartbeat by size of the mesh. Includes that of the database server in the background. */
export async function meshPostgresHeartbeatScale() {
  const sizes = [1000, 10_000, 100_000]
  const runs: Run[] = []
  try {
    for (const nodes of sizes) runs.push(await runWith(nodes))
    await beatInTurn(runs, 31)
  } finally {
    await stop(runs)
  }
  const costs = runs.map(({cost}) => mean(cost))
  return {
    nodes: sizes,
    cpu_us: costs.map((cost) => round(cost)),
    per_s: runs.map(({perSecond}) => Math.round(median(perSecond))),
    largest_to_smallest_cpu: round((costs.at(-1) as number) / (costs[0] as number), 2),
  }
}
