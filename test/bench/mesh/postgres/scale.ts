import {loadavg} from 'node:os'
import {setTimeout as sleep} from 'node:timers/promises'
import type pg from 'pg'
import {median, round} from '../../../../src/bench/measure.js'
import {openPostgresMeshStore, routes} from '../../../../src/mesh/index.js'
import {runSql} from '../../../support/postgres.js'
import {heartbeat} from '../heartbeat.js'
import {connectMany, throughput} from '../load.js'
import {limits, type Server} from '../servers.js'
import {type Cost, costOf, difference, number, pageBytes, spent, walOf} from './cost.js'
import {type Driven, deliver, drive, kinds, lanes, type Rates} from './open-loop.js'
import {connectDirectly, createMesh, databaseMs, startReplica} from './servers.js'

const smallNodes = 10_000
const largeNodes = 100_000
const rounds = 5
/** Duration of a calibration and of a part of the simulation in each round, s. */
const calibrationSeconds = 3
const simulationSeconds = 9
const settleSeconds = 1
const warmUpSeconds = 6
/** Operations per second of the simulation. The heartbeats of all nodes are half of the default, to leave room for the client. */
const rates = {heartbeat: 2500, message: 100, lease: 50}
/** The default target for the heartbeats of all nodes, per second. */
const defaultHeartbeats = 5000
/** Interval at which a control plane counts the nodes, s. */
const countEverySeconds = 5
const counts = 20
const openMessages = 5120

interface Mesh extends Driven {
  server: Server
  pool: pg.Pool
  url: string
}

async function open(nodes: number): Promise<Mesh> {
  const url = await createMesh(nodes)
  await runSql(url, 'CREATE EXTENSION pg_walinspect')
  const server = await startReplica(url, {SVC_MESH_HEARTBEATS_PER_SEC: String(rates.heartbeat)})
  const mesh = {nodes, url, server, pool: connectDirectly(url, 1)}
  return {...mesh, done: {heartbeat: 0, message: 0, lease: 0}}
}

const pagesOf = (mesh: Mesh) => number(mesh, `pg_relation_size('mesh_nodes') / ${pageBytes}`)

const sizeOf = (mesh: Mesh, ...tables: string[]) =>
  number(mesh, tables.map((table) => `pg_total_relation_size('${table}')`).join(' + '))

/** Costs per second at a constant load, shortly after a checkpoint. */
async function measure(
  mesh: Mesh,
  servers: readonly Server[],
  perSecond: Partial<Rates>,
  seconds: number,
): Promise<Cost> {
  await mesh.pool.query('CHECKPOINT')
  await drive(mesh, perSecond, settleSeconds)
  const before = await spent(mesh, servers)
  await drive(mesh, perSecond, seconds)
  const cost = await difference(mesh, before, await spent(mesh, servers))
  return costOf((resource) => cost[resource] / seconds)
}

/** Loads of the small mesh. */
const {heartbeat: beatRate, message, lease} = rates
const calibrations = {
  slow: {heartbeat: beatRate / 2},
  beats: {heartbeat: beatRate},
  fast: {heartbeat: defaultHeartbeats},
  messages: {heartbeat: beatRate, message},
  leases: {heartbeat: beatRate, lease},
  mixed: rates,
} satisfies Record<string, Partial<Rates>>

type Calibration = Record<keyof typeof calibrations, Cost>
type Measured = Calibration & {simulation: Cost}

/**
 * Costs of each operation, and per second of a control plane that receives heartbeats at such rates. Requests that wait
 * are merged, and those of different kinds share the work of a busy process. Therefore messages and leases are measured
 * together with the others: alone they cost more.
 */
function modelOf({slow, beats, messages, leases, mixed}: Calibration) {
  return {
    second: costOf((resource) => 2 * slow[resource] - beats[resource]),
    heartbeat: costOf((resource) => (2 * (beats[resource] - slow[resource])) / beatRate),
    message: costOf((resource) => (mixed[resource] - leases[resource]) / message),
    lease: costOf((resource) => (mixed[resource] - messages[resource]) / lease),
  }
}

/**
 * Expected bytes of pages of the nodes that are logged per second. Merged claims lock the rows of their nodes, and the first
 * change of a page after a checkpoint logs the page.
 */
function imagesOf({pages, seconds, merged}: {pages: number; seconds: number; merged: number}): number {
  const untouched = (after: number) => pages * Math.exp((-merged * message * after) / pages)
  return ((untouched(settleSeconds) - untouched(settleSeconds + seconds)) * pageBytes) / seconds
}

/** Share of claims that were merged with others, from the pages that were logged. */
function mergedShare({mixed, leases}: Calibration, pages: number): number {
  const images = mixed.images - leases.images
  let [low, high] = [0, 1]
  for (let n = 0; n < 20; n++) {
    const merged = (low + high) / 2
    if (imagesOf({pages, seconds: calibrationSeconds, merged}) < images) low = merged
    else high = merged
  }
  return low
}

/** Predicts the cost per second of the large mesh. @param countUs processor time of a count of the nodes, per node, µs */
function predict(model: ReturnType<typeof modelOf>, countUs: number, images: number): Cost {
  const cost = costOf((resource) =>
    kinds.reduce((sum, kind) => sum + rates[kind] * model[kind][resource], model.second[resource]),
  )
  cost.database += (countUs * (largeNodes - smallNodes)) / countEverySeconds / 1000
  return {...cost, images}
}

/** Deletes messages that were acknowledged long ago. @returns costs per message, and messages deleted per second */
async function purge(mesh: Mesh, servers: readonly Server[]) {
  const messages = await number(mesh, '(SELECT count(*) FROM mesh_messages WHERE acked_at IS NOT NULL)')
  await mesh.pool.query('UPDATE mesh_messages SET acked_at = 1 WHERE acked_at IS NOT NULL')
  const store = await openPostgresMeshStore(mesh.url, limits)
  const before = await spent(mesh, servers)
  const begun = performance.now()
  while (await store.purge()) await sleep(0)
  const took = performance.now() - begun
  const cost = await difference(mesh, before, await spent(mesh, servers))
  await store.close()
  return {
    deleted: messages,
    database_us: round((cost.database * 1000) / messages),
    wal_bytes: Math.round(walOf(cost) / messages),
    per_s: Math.round((messages * 1000) / took),
  }
}

/** Sizes of what is stored, bytes. */
async function stored(small: Mesh, large: Mesh) {
  const {message, lease} = small.done
  const sizes = async (...tables: string[]) => (await sizeOf(small, ...tables)) as number
  const closed = await sizes('mesh_messages')
  const connections = await connectMany(small.server, lanes)
  await throughput(connections, openMessages / lanes, async (connection) => {
    await deliver(connection, small.done.message++)
  })
  for (const connection of connections) connection.end()
  const open = (await sizes('mesh_messages')) - closed
  return {
    node: Math.round((await sizeOf(large, 'mesh_nodes', 'mesh_node_seen')) / largeNodes),
    open_message: Math.round(open / openMessages),
    acknowledged_message: Math.round(closed / message),
    lease: Math.round((await sizes('mesh_exec_leases', 'mesh_audit')) / lease),
  }
}

/** Processor time of a count of the nodes, per node, µs. */
async function countUsOf({pool, nodes}: Mesh): Promise<number> {
  const before = databaseMs()
  for (let n = 0; n < counts; n++)
    await pool.query("SELECT count(*) FROM mesh_nodes WHERE scope_id = '' AND left_at IS NULL")
  return ((databaseMs() - before) * 1000) / counts / nodes
}

/**
 * Cost of heartbeats, messages and leases, measured on a small mesh, and whether it predicts that of a mesh of ten times the
 * size with all of them at once. Rounds alternate between the two. A message is three requests: it is delivered, claimed
 * and acknowledged. A lease is granted, renewed and released.
 */
export async function meshScale() {
  const small = await open(smallNodes)
  const large = await open(largeNodes)
  const servers = [small.server, large.server]
  const measured: Measured[] = []
  let intervalMs = 0
  try {
    for (const mesh of [small, large]) {
      // The first heartbeat of a process costs more.
      await drive(mesh, {heartbeat: defaultHeartbeats}, mesh.nodes / defaultHeartbeats)
      await drive(mesh, rates, warmUpSeconds)
    }
    const [connection] = await connectMany(large.server, 1)
    const answer = await connection?.post(routes.heartbeat.path, heartbeat(0))
    intervalMs = JSON.parse(answer ?? '').next_heartbeat_ms
    connection?.end()
    const idle = await measure(small, servers, {}, calibrationSeconds)
    for (let n = 0; n < rounds; n++) {
      const costs = {} as Calibration
      for (const [name, load] of Object.entries(calibrations) as [keyof Calibration, Partial<Rates>][])
        costs[name] = await measure(small, servers, load, calibrationSeconds)
      measured.push({...costs, simulation: await measure(large, servers, rates, simulationSeconds)})
    }
    const costs = Object.fromEntries(
      (Object.keys(measured[0] ?? {}) as (keyof Measured)[]).map((name) => [
        name,
        costOf((resource) => median(measured.map((each) => each[name][resource]))),
      ]),
    ) as Measured
    const {simulation} = costs
    const model = modelOf(costs)
    const countUs = await countUsOf(large)
    const [smallPages, pages] = await Promise.all([small, large].map(pagesOf))
    const merged = mergedShare(costs, smallPages as number)
    const images = imagesOf({pages: pages as number, seconds: simulationSeconds, merged})
    const predicted = predict(model, countUs, images)
    return {
      nodes: largeNodes,
      heartbeat_interval_ms: intervalMs,
      per_s: rates,
      ...{idle, calibrations: costs, model},
      merged_claims: round(merged, 2),
      count_us_per_node: round(countUs, 3),
      node_pages: pages,
      stored_bytes: await stored(small, large),
      purge: await purge(small, servers),
      ...{predicted, measured: simulation},
      predicted_wal: walOf(predicted),
      measured_wal: walOf(simulation),
      measured_to_predicted_cpu: round(
        (simulation.control + simulation.database) / (predicted.control + predicted.database),
        2,
      ),
      measured_to_predicted_wal: round(walOf(simulation) / walOf(predicted), 2),
      load: round(loadavg()[0] as number),
    }
  } finally {
    await Promise.all([small, large].flatMap(({server, pool}) => [server.stop(), pool.end()]))
  }
}
