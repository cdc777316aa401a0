import {SvcError} from '../../../errors/index.js'
import type {NodeFacts} from '../../protocol/node.js'
import type {Heartbeat, HeartbeatOutcome, Maintenance, NodePage, NodeQuery, Scope} from '../mesh-store.js'
import {type JoinOptions, maintenanceOf, orderOf, seenAfterHeartbeat, seenAfterJoin} from '../node-changes.js'
import {type OpenPage, startPage} from '../node-pages.js'
import {type Facts, hasFacts, type KnownNode, loadOf, mergeReports, recordText, reportedBy} from '../node-record.js'
import type {Database, Query} from './database.js'
import {type Answer, compare, Lane, transpose} from './lane.js'
import {fromRow, type ListedRow, listedOf, type NodeRow, save, saveSeen, seenValues, sql} from './node-rows.js'

/** Maximum number of heartbeats per statement. */
const heartbeatsAtOnce = 500
/** Maximum number of attempts if other processes change the same node. */
const maxAttempts = 10
/** Number of rows read at once for a list; each is up to 8 MiB. */
const listedAtOnce = 200
/** Time for which the number of nodes is cached, ms; it only determines the interval of heartbeats. */
const countedMs = 5000

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
