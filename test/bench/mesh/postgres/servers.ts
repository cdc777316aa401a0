import {readFileSync} from 'node:fs'
import pg from 'pg'
import {openPostgresMeshStore} from '../../../../src/mesh/index.js'
import {PostgresCluster, runSql} from '../../../support/postgres.js'
import {svcBinary} from '../../../support/svc.js'
import {endedChildrenMs, processorMs} from '../processor.js'
import {limits, nodeFacts, nodeId, type Server, start, token} from '../servers.js'

let shared: PostgresCluster | undefined

/** Server that flushes every commit to disk. */
const cluster = (): PostgresCluster => {
  shared ??= new PostgresCluster({isDurable: true})
  return shared
}

/** Processor time of all processes of the database server, including those that have ended, ms. */
export function databaseMs(): number {
  const {pid} = cluster()
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  // A process that has ended meanwhile is part of the next number.
  const running = children.reduce((sum, child) => sum + (processorMs(Number(child)) || 0), processorMs(pid))
  return running + endedChildrenMs(pid)
}

/**
 * Creates a database with a number of nodes, which differ only in their id.
 * @returns its URL
 */
export async function createMesh(nodes: number): Promise<string> {
  const name = `mesh_${performance.now()}`
  await runSql(cluster().urlOf('postgres'), `CREATE DATABASE "${name}" TEMPLATE template0`)
  const url = cluster().urlOf(name)
  const store = await openPostgresMeshStore(url, limits)
  await store.join('', nodeFacts(0))
  await store.close()
  await runSql(
    url,
    `CREATE TEMP TABLE ids AS SELECT format('node-%s', lpad(i::text, 6, '0')) AS id FROM generate_series(1, ${nodes - 1}) i;
INSERT INTO mesh_nodes (scope_id, node_id, joined_at, visibility, capabilities, record_json)
  SELECT '', id, joined_at, visibility, capabilities, replace(record_json, '${nodeId(0)}', id) FROM mesh_nodes, ids;
INSERT INTO mesh_node_seen (scope_id, node_id, last_seen, beat) SELECT '', id, last_seen, beat FROM mesh_node_seen, ids;
ANALYZE`,
  )
  return url
}

/** Starts a control plane in a process of its own. */
export async function startReplica(url: string, env: Record<string, string> = {}): Promise<Server> {
  const args = [svcBinary, 'mesh', 'serve', '--port', '0', '--json', '--quiet', '--store', url]
  return {...(await start(args, {SVC_MESH_TOKEN: token, ...env})), token}
}

/** Connections for statements that are sent directly. */
export const connectDirectly = (url: string, max: number): pg.Pool =>
  new pg.Pool({connectionString: url, max, options: '-c enable_seqscan=off -c jit=off'})
