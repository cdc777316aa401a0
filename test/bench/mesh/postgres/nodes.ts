import {Agent, get} from 'node:http'
import {median, round} from '../../../../src/bench/measure.js'
import {routes} from '../../../../src/mesh/index.js'
import {cursorOf} from '../../../../src/mesh/protocol/node-query.js'
import {nodeId} from '../servers.js'
import {connectDirectly, createMesh, startReplica} from './servers.js'

const nodes = 100_000
const limit = 500
/** Pages per round: a single one is as short as the interruptions of the machine. */
const pages = 10
const warmUp = 3
const rounds = 31

/**
 * A page of 500 nodes of a hundred thousand over HTTP, compared with the statement that reads the same rows with their
 * last heartbeats.
 */
export async function meshPostgresNodes() {
  const url = await createMesh(nodes)
  const replica = await startReplica(url)
  const pool = connectDirectly(url, 1)
  const agent = new Agent({keepAlive: true, maxSockets: 1})
  const fetchPage = (after: string) =>
    new Promise<string>((resolve, reject) => {
      const query = `limit=${limit}&cursor=${cursorOf(after)}`
      const headers = {authorization: `Bearer ${replica.token}`}
      get(`${replica.baseUrl}${routes.list_nodes.path}?${query}`, {agent, headers}, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () => resolve(Buffer.concat(parts).toString()))
      }).on('error', reject)
    })
  const text = `SELECT n.*, s.last_seen, cpu, memory FROM (
  SELECT scope_id, node_id, record_json, trust_tier, maintenance, maintenance_until, quarantined FROM mesh_nodes
  WHERE scope_id = '' AND node_id > $1 AND left_at IS NULL ORDER BY node_id LIMIT ${limit}
) n LEFT JOIN mesh_node_seen s ON s.scope_id = n.scope_id AND s.node_id = n.node_id ORDER BY n.node_id`
  const readPage = (after: string) => pool.query({name: 'page', text, values: [after]})

  const times = {http: [] as number[], sql: [] as number[]}
  let page = 0
  const time = async (read: (after: string) => Promise<unknown>) => {
    const started = performance.now()
    for (let n = 0; n < pages; n++) await read(nodeId((++page * 7919) % (nodes - limit - 1)))
    return (performance.now() - started) / pages
  }
  try {
    const answer = JSON.parse(await fetchPage(nodeId(0)))
    if (answer.nodes.length !== limit) throw new Error(`A page has ${answer.nodes.length} nodes.`)
    for (let n = -warmUp; n < rounds; n++) {
      const measured = {http: await time(fetchPage), sql: await time(readPage)}
      if (n < 0) continue
      times.http.push(measured.http)
      times.sql.push(measured.sql)
    }
  } finally {
    agent.destroy()
    await Promise.all([replica.stop(), pool.end()])
  }
  return {
    nodes,
    page: limit,
    http_ms: round(median(times.http), 2),
    sql_ms: round(median(times.sql), 2),
    http_to_sql: round(median(times.http.map((one, i) => one / (times.sql[i] as number))), 3),
  }
}
