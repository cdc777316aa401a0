import type {NodeFacts} from '../../protocol/node.js'
import {type KnownNode, type ListedNode, readLater} from '../node-record.js'
import {type Query, statement} from './database.js'
import {now} from './schema.js'

export interface ListedRow {
  scope_id: string
  node_id: string
  trust_tier: string
  maintenance: boolean
  maintenance_until: number | null
  quarantined: boolean
  record_json: string
  last_seen: number | null
  cpu: number | null
  memory: number | null
  now: number
}

export interface NodeRow extends ListedRow {
  joined_at: number
  left_at: number | null
  incarnation: number | null
  seq: number | null
  superseded: string | null
  beat: number | null
}

const listed =
  'n.scope_id, n.node_id, trust_tier, maintenance, maintenance_until, quarantined, record_json, s.last_seen, s.cpu, s.memory'
const columns = `${listed}, joined_at, left_at, incarnation, seq, superseded, beat, ${now} AS now`

const withSeen = 'LEFT JOIN mesh_node_seen s ON s.scope_id = n.scope_id AND s.node_id = n.node_id'

export const sql = {
  lock: statement('SELECT mesh_lock_node($1, $2) AS now'),
  find: statement(`SELECT ${columns} FROM mesh_nodes n ${withSeen} WHERE n.scope_id = $1 AND n.node_id = $2`),
  save: statement(`INSERT INTO mesh_nodes (scope_id, node_id, trust_tier, maintenance, maintenance_until, quarantined, joined_at, left_at,
  record_json, visibility, capabilities)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (scope_id, node_id) DO UPDATE SET trust_tier = excluded.trust_tier, maintenance = excluded.maintenance,
  maintenance_until = excluded.maintenance_until, quarantined = excluded.quarantined, joined_at = excluded.joined_at,
  left_at = excluded.left_at, record_json = excluded.record_json, visibility = excluded.visibility,
  capabilities = excluded.capabilities`),
  saveSeen:
    statement(`INSERT INTO mesh_node_seen (scope_id, node_id, last_seen, incarnation, seq, superseded, cpu, memory, beat)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (scope_id, node_id) DO UPDATE SET last_seen = excluded.last_seen, incarnation = excluded.incarnation,
  seq = excluded.seq, superseded = excluded.superseded, cpu = excluded.cpu, memory = excluded.memory, beat = excluded.beat`),
  remove: statement('DELETE FROM mesh_nodes WHERE scope_id = $1 AND node_id = $2'),
  leave: statement('SELECT mesh_leave($1, $2)'),
  log: statement('SELECT mesh_log($1, $2, $3, $4, $5)'),
  count: statement('SELECT count(*) AS count FROM mesh_nodes WHERE scope_id = $1 AND left_at IS NULL'),
  page: statement(`SELECT ${listed}, ${now} AS now FROM (SELECT * FROM mesh_nodes WHERE scope_id = $1 AND node_id > $2 AND left_at IS NULL
  ORDER BY node_id LIMIT $3) n ${withSeen} ORDER BY n.node_id`),
  // The planner expects a single row because of the limit, so it looks up the others by their keys even while it believes the
  // tables to be empty. Rows are changed in the order of the heartbeats, which are sorted, so that batches of two processes
  // do not deadlock.
  beatAgain:
    statement(`UPDATE mesh_node_seen s SET last_seen = greatest(s.last_seen, now), seq = r.seq, cpu = coalesce(r.cpu, s.cpu),
  memory = coalesce(r.memory, s.memory), beat = greatest(s.beat + 1, now)
FROM (SELECT *, ${now} AS now FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::float8[], $6::bigint[])
  WITH ORDINALITY AS r (scope_id, node_id, incarnation, seq, cpu, memory, no) LIMIT $7) r JOIN mesh_nodes n USING (scope_id, node_id)
WHERE s.scope_id = r.scope_id AND s.node_id = r.node_id AND s.incarnation = r.incarnation AND s.seq < r.seq AND left_at IS NULL
RETURNING no, now, ${listed}`),
  findAll:
    statement(`SELECT ${columns} FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[]) AS r (scope_id, node_id)) r
JOIN mesh_nodes n USING (scope_id, node_id) ${withSeen} WHERE left_at IS NULL`),
  // Rows in order, so that batches of two processes do not deadlock.
  beat: statement(`WITH r AS MATERIALIZED (
  SELECT r.* FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::float8[],
    $8::bigint[], $9::bigint[], $10::bigint[])
    AS r (scope_id, node_id, last_seen, incarnation, seq, superseded, cpu, memory, beat, before)
  JOIN mesh_node_seen s USING (scope_id, node_id) WHERE s.beat = before ORDER BY scope_id, node_id FOR UPDATE OF s)
UPDATE mesh_node_seen s SET last_seen = r.last_seen, incarnation = r.incarnation, seq = r.seq, superseded = r.superseded,
  cpu = r.cpu, memory = r.memory, beat = r.beat
FROM r WHERE s.scope_id = r.scope_id AND s.node_id = r.node_id AND s.beat = r.before RETURNING s.scope_id, s.node_id`),
}

/** Adds the rows of last heartbeats that a crash of the server has deleted. */
export const restoreSeen = `INSERT INTO mesh_node_seen (scope_id, node_id, last_seen, beat)
SELECT scope_id, node_id, now, now FROM mesh_nodes n, mesh_now() AS now
WHERE left_at IS NULL AND NOT EXISTS (SELECT FROM mesh_node_seen s WHERE s.scope_id = n.scope_id AND s.node_id = n.node_id)
ON CONFLICT DO NOTHING`

const listOf = (numbers: readonly number[]): string | null => (numbers.length === 0 ? null : JSON.stringify(numbers))

/** Reads a row. A node whose last heartbeat was lost counts as just seen. */
export const listedOf = (row: ListedRow): ListedNode => ({
  scope: row.scope_id,
  id: row.node_id,
  reported: readLater(row.record_json),
  trust: row.trust_tier,
  maintenance: row.maintenance,
  maintenanceUntil: row.maintenance_until,
  quarantined: row.quarantined,
  seen: {lastSeen: row.last_seen ?? row.now, cpu: row.cpu, memory: row.memory},
})

export function fromRow(row: NodeRow): KnownNode {
  const node = listedOf(row)
  return {
    ...node,
    joinedAt: row.joined_at,
    leftAt: row.left_at,
    seen: {
      ...node.seen,
      incarnation: row.incarnation,
      seq: row.seq,
      superseded: row.superseded === null ? [] : JSON.parse(row.superseded),
      writeNo: row.beat ?? 0,
    },
  }
}

export async function save(query: Query, node: KnownNode): Promise<void> {
  const {scope, id, reported, trust, maintenance, maintenanceUntil, quarantined, joinedAt, leftAt} = node
  const {capabilities = {}} = JSON.parse(reported.record) as Partial<NodeFacts>
  const state = [trust, maintenance, maintenanceUntil, quarantined, joinedAt, leftAt]
  await query(sql.save, [scope, id, ...state, reported.record, reported.visibility, JSON.stringify(capabilities)])
}

export async function saveSeen(query: Query, node: KnownNode, now: number): Promise<void> {
  await query(sql.saveSeen, seenValues(node, now))
}

/** Values of a row of `mesh_node_seen`, with the number of a new write. */
export function seenValues({scope, id, seen}: KnownNode, now: number): unknown[] {
  const {lastSeen, incarnation, seq, superseded, cpu, memory, writeNo} = seen
  // Numbers after a removal and a new join must not repeat.
  const number = Math.max(writeNo + 1, now)
  return [scope, id, lastSeen, incarnation, seq, listOf(superseded), cpu, memory, number]
}
