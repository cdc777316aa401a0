import {SvcError} from '../../../errors/index.js'
import type {NodeFacts} from '../../protocol/node.js'
import type {Heartbeat, HeartbeatOutcome, Maintenance, NodePage, NodeQuery, Scope} from '../mesh-store.js'
import {type JoinOptions, maintenanceOf, orderOf, seenAfterHeartbeat, seenAfterJoin} from '../node-changes.js'
import {type OpenPage, startPage} from '../node-pages.js'
import {
  type Facts,
  hasFacts,
  type KnownNode,
  type ListedNode,
  loadOf,
  mergeReports,
  readLater,
  recordText,
  reportedBy,
} from '../node-record.js'
import {type Database, type Query, statement} from './database.js'
import {type Answer, compare, Lane, transpose} from './lane.js'
import {now} from './schema.js'

interface ListedRow {
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

interface NodeRow extends ListedRow {
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

const sql = {
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

/** Maximum number of heartbeats per statement. */
const heartbeatsAtOnce = 500
/** Maximum number of attempts if other processes change the same node. */
const maxAttempts = 10
/** Number of rows read at once for a list; each is up to 8 MiB. */
const listedAtOnce = 200
/** Time for which the number of nodes is cached, ms; it only determines the interval of heartbeats. */
const countedMs = 5000

const listOf = (numbers: readonly number[]): string | null => (numbers.length === 0 ? null : JSON.stringify(numbers))

/** Reads a row. A node whose last heartbeat was lost counts as just seen. */
const listedOf = (row: ListedRow): ListedNode => ({
  scope: row.scope_id,
  id: row.node_id,
  reported: readLater(row.record_json),
  trust: row.trust_tier,
  maintenance: row.maintenance,
  maintenanceUntil: row.maintenance_until,
  quarantined: row.quarantined,
  seen: {lastSeen: row.last_seen ?? row.now, cpu: row.cpu, memory: row.memory},
})

function fromRow(row: NodeRow): KnownNode {
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

/** Request of one node, with the scope. */
interface Beat {
  scope: Scope
  heartbeat: Heartbeat
}

/** Transaction that has locked a node. */
interface Change {
  query: Query
  /** Node, including one that has left in quarantine. */
  node: KnownNode | undefined
  now: number
}

/** Joins, heartbeats, quarantine and maintenance of nodes. */
export class Nodes {
  readonly #database: Database
  readonly #onTime: (now: number) => void
  readonly #beats: Lane<Beat, HeartbeatOutcome | 'conflict' | 'other'>
  readonly #counts = new Map<Scope, {atMs: number; count: Promise<number>}>()

  /** @param onTime receives the times of the database that answers contain */
  constructor(database: Database, onTime: (now: number) => void) {
    this.#database = database
    this.#onTime = onTime
    this.#beats = new Lane({run: (beats) => this.#beat(beats), max: heartbeatsAtOnce})
  }

  get depth(): number {
    return this.#beats.depth
  }

  async join(scope: Scope, facts: NodeFacts, options: JoinOptions): Promise<string> {
    const record = await this.#change(scope, facts.id, async ({query, node, now}) => {
      if (node?.leftAt !== null)
        return recordText(await this.#add(query, scope, facts, {options, before: node, now}), now)
      const order = orderOf(node, options, now)
      if (order === 'superseded') throw new SvcError('duplicate_node_id', {node: facts.id})
      if (order === 'late') return recordText(node, now)
      const {writeNo} = node.seen
      const seen = {...seenAfterJoin(node.seen, facts, options, now), writeNo}
      const joined = {...node, reported: reportedBy(facts), seen}
      await save(query, joined)
      await saveSeen(query, joined, now)
      return recordText(joined, now)
    })
    this.forgetCounts()
    return record
  }

  async heartbeat(scope: Scope, heartbeat: Heartbeat): Promise<HeartbeatOutcome> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const outcome = await this.#beats.add({scope, heartbeat})
      if (outcome === 'other') break
      if (outcome !== 'conflict') return outcome
    }
    return this.#beatAlone(scope, heartbeat)
  }

  /** Removes a node. One in quarantine is kept, so that it is still in quarantine when it joins again. */
  async leave(scope: Scope, id: string): Promise<void> {
    await this.#change(scope, id, async ({query, node}) => {
      requirePresent(node, id)
      await query(sql.leave, [scope, id])
    })
    this.forgetCounts()
  }

  /** Must be called when nodes were added or removed. */
  forgetCounts(): void {
    this.#counts.clear()
  }

  async list(scope: Scope, query: NodeQuery): Promise<NodePage> {
    const part = Math.min(query.limit, listedAtOnce)
    let page: OpenPage | undefined
    for (;;) {
      // One more node shows whether there are more.
      const values = [scope, page?.last ?? query.after ?? '', part + 1]
      const rows = await this.#database.query<ListedRow>(sql.page, values)
      this.#onTime(rows[0]?.now ?? 0)
      page ??= startPage(query, rows[0]?.now ?? 0)
      for (const row of rows.slice(0, part)) {
        if (page.isFull) return page.end(true)
        page.examine(row.node_id, listedOf(row))
      }
      if (rows.length <= part) return page.end(false)
      if (page.isFull) return page.end(true)
    }
  }

  setQuarantine(scope: Scope, id: string, on: boolean, actor: string): Promise<void> {
    return this.#change(scope, id, async ({query, node}) => {
      const found = node ?? requirePresent(node, id)
      // A node that has left is only kept for its quarantine.
      if (found.leftAt !== null && !on) await query(sql.remove, [scope, id])
      else await save(query, {...found, quarantined: on})
      await query(sql.log, [scope, actor, 'node.quarantine', id, JSON.stringify({on})])
    })
  }

  setMaintenance(scope: Scope, id: string, maintenance: Maintenance, actor: string): Promise<void> {
    return this.#change(scope, id, async ({query, node, now}) => {
      const {maintenance: on, maintenanceUntil} = maintenanceOf(maintenance, now)
      await save(query, {...requirePresent(node, id), maintenance: on, maintenanceUntil})
      const detail = JSON.stringify({on, until_unix_ms: maintenanceUntil})
      await query(sql.log, [scope, actor, 'node.maintenance', id, detail])
    })
  }

  /** Number of present nodes; exact after changes by this process, otherwise at most five seconds old. */
  async count(scope: Scope): Promise<number> {
    const nowMs = performance.now()
    let known = this.#counts.get(scope)
    if (known === undefined || nowMs - known.atMs > countedMs) {
      const count = this.#database.one<{count: number}>(sql.count, [scope]).then(({count}) => count)
      known = {atMs: nowMs, count}
      this.#counts.set(scope, known)
      count.catch(() => this.#counts.delete(scope))
    }
    return known.count
  }

  /** Records heartbeats that report only the load of a node, most of which are from its current process. */
  async #beat(beats: readonly Beat[]): Promise<Answer<HeartbeatOutcome | 'conflict' | 'other'>[]> {
    const again = new Map<string, [number, Beat]>()
    for (const [i, beat] of beats.entries()) {
      const {facts, incarnation, seq} = beat.heartbeat
      if (incarnation === undefined || seq === undefined || hasFacts(facts)) continue
      again.set(keyOf(beat.scope, facts.id), [i, beat])
    }
    const sorted = [...again].sort(([a], [b]) => compare(a, b)).map(([, beat]) => beat)
    const records = await this.#beatAgain(sorted.map(([, beat]) => beat))
    const answers: Answer<HeartbeatOutcome | 'conflict' | 'other'>[] = []
    for (const [no, [i, {scope}]] of sorted.entries()) {
      const record = records.get(no + 1)
      if (record !== undefined) answers[i] = {value: {record, nodeCount: await this.count(scope)}}
    }
    const others = [...beats.entries()].filter(([i]) => answers[i] === undefined)
    const found = others.length === 0 ? [] : await this.#beatOthers(others.map(([, beat]) => beat))
    for (const [no, [i]] of others.entries()) answers[i] = found[no] as (typeof found)[number]
    return answers
  }

  /** Records heartbeats that are new ones of the current process. @returns their records, by position from 1 */
  async #beatAgain(beats: readonly Beat[]): Promise<Map<number, string>> {
    if (beats.length === 0) return new Map()
    const values = beats.map(({scope, heartbeat: {facts, incarnation, seq}}) => {
      const {cpu, memory} = loadOf(facts)
      return [scope, facts.id, incarnation, seq, cpu, memory]
    })
    const rows = await this.#database.query<ListedRow & {no: number}>(sql.beatAgain, [
      ...transpose(values),
      beats.length,
    ])
    this.#onTime(rows[0]?.now ?? 0)
    return new Map(rows.map((row) => [row.no, recordText(listedOf(row), row.now)]))
  }

  /** Records heartbeats of known nodes, unless they change their records. */
  async #beatOthers(beats: readonly Beat[]): Promise<Answer<HeartbeatOutcome | 'conflict' | 'other'>[]> {
    const scopes = beats.map(({scope}) => scope)
    const rows = await this.#database.query<NodeRow>(sql.findAll, [
      scopes,
      beats.map(({heartbeat}) => heartbeat.facts.id),
    ])
    const now = rows[0]?.now ?? 0
    this.#onTime(now)
    const nodes = new Map(
      rows.filter(({beat}) => beat !== null).map((row) => [keyOf(row.scope_id, row.node_id), fromRow(row)]),
    )
    const changed = new Map<string, KnownNode>()
    const answers = beats.map(({scope, heartbeat}): Answer<string> => {
      const {id} = heartbeat.facts
      const node = nodes.get(keyOf(scope, id))
      if (node === undefined) return {value: 'other'}
      if (hasFacts(heartbeat.facts) && mergeReports(node.reported, heartbeat.facts) !== node.reported)
        return {value: 'other'}
      const order = orderOf(node, heartbeat, now)
      if (order === 'superseded' || order === 'other') return {error: new SvcError('duplicate_node_id', {node: id})}
      if (order === 'new') {
        Object.assign(node.seen, seenAfterHeartbeat(node.seen, heartbeat, now))
        changed.set(keyOf(scope, id), node)
      }
      return {value: recordText(node, now)}
    })
    const saved = await this.#saveBeats([...changed.values()], now)
    return Promise.all(
      beats.map(async ({scope, heartbeat}, i): Promise<Answer<HeartbeatOutcome | 'conflict' | 'other'>> => {
        const answer = answers[i] as Answer<string>
        if ('error' in answer || answer.value === 'other') return answer as Answer<'other'>
        const key = keyOf(scope, heartbeat.facts.id)
        if (changed.has(key) && !saved.has(key)) return {value: 'conflict'}
        return {value: {record: answer.value, nodeCount: await this.count(scope)}}
      }),
    )
  }

  /** @returns keys of the nodes that no other process has changed meanwhile */
  async #saveBeats(changed: readonly KnownNode[], now: number): Promise<Set<string>> {
    if (changed.length === 0) return new Set()
    const values = changed.map((node) => [...seenValues(node, now), node.seen.writeNo])
    const rows = await this.#database.query<NodeRow>(sql.beat, transpose(values))
    return new Set(rows.map(({scope_id, node_id}) => keyOf(scope_id, node_id)))
  }

  async #beatAlone(scope: Scope, heartbeat: Heartbeat): Promise<HeartbeatOutcome> {
    const {facts, isFull} = heartbeat
    const {id} = facts
    const record = await this.#change(scope, id, async ({query, node, now}) => {
      if (node?.leftAt !== null) {
        if (!isFull) requirePresent(node, id)
        return recordText(await this.#add(query, scope, facts, {options: heartbeat, before: node, now}), now)
      }
      const order = orderOf(node, heartbeat, now)
      if (order === 'superseded' || order === 'other') throw new SvcError('duplicate_node_id', {node: id})
      if (order === 'late' || order === 'again') return recordText(node, now)
      const seen = {...node.seen, ...seenAfterHeartbeat(node.seen, heartbeat, now)}
      const changed = {...node, reported: mergeReports(node.reported, facts), seen}
      if (changed.reported !== node.reported) await save(query, changed)
      await saveSeen(query, changed, now)
      return recordText(changed, now)
    })
    if (isFull) this.forgetCounts()
    return {record, nodeCount: await this.count(scope)}
  }

  /** Locks a node and changes it in one transaction. */
  #change<T>(scope: Scope, id: string, work: (change: Change) => Promise<T>): Promise<T> {
    return this.#database.transaction(async (query) => {
      const [lock] = await query<{now: number}>(sql.lock, [scope, id])
      const [row] = await query<NodeRow>(sql.find, [scope, id])
      this.#onTime(lock?.now ?? 0)
      return work({query, node: row && fromRow(row), now: lock?.now ?? 0})
    })
  }

  /** Adds a new node, or one that has left, whose quarantine is kept. */
  async #add(
    query: Query,
    scope: Scope,
    facts: Facts,
    {options, before, now}: {options: JoinOptions; before: KnownNode | undefined; now: number},
  ): Promise<KnownNode> {
    const node: KnownNode = {
      scope,
      id: facts.id,
      reported: reportedBy(facts),
      trust: before?.trust ?? 'trusted',
      ...maintenanceOf(options.maintenance, now),
      quarantined: before?.quarantined ?? false,
      joinedAt: now,
      leftAt: null,
      seen: seenAfterJoin(undefined, facts, options, now),
    }
    await save(query, node)
    await saveSeen(query, node, now)
    return node
  }
}

const keyOf = (scope: Scope, id: string) => `${scope}\n${id}`

/** @throws node_not_found */
function requirePresent(node: KnownNode | undefined, id: string): KnownNode {
  if (node?.leftAt !== null) throw new SvcError('node_not_found', {node: id})
  return node
}

async function save(query: Query, node: KnownNode): Promise<void> {
  const {scope, id, reported, trust, maintenance, maintenanceUntil, quarantined, joinedAt, leftAt} = node
  const {capabilities = {}} = JSON.parse(reported.record) as Partial<NodeFacts>
  const state = [trust, maintenance, maintenanceUntil, quarantined, joinedAt, leftAt]
  await query(sql.save, [scope, id, ...state, reported.record, reported.visibility, JSON.stringify(capabilities)])
}

async function saveSeen(query: Query, node: KnownNode, now: number): Promise<void> {
  await query(sql.saveSeen, seenValues(node, now))
}

/** Values of a row of `mesh_node_seen`, with the number of a new write. */
function seenValues({scope, id, seen}: KnownNode, now: number): unknown[] {
  const {lastSeen, incarnation, seq, superseded, cpu, memory, writeNo} = seen
  // Numbers after a removal and a new join must not repeat.
  const number = Math.max(writeNo + 1, now)
  return [scope, id, lastSeen, incarnation, seq, listOf(superseded), cpu, memory, number]
}
