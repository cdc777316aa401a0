import {SvcError} from '../../../errors/index.js'
import type {Incarnation, NodeFacts} from '../../protocol/node.js'
import type {Heartbeat, HeartbeatOutcome, Maintenance, Scope} from '../mesh-store.js'
import type {Audit} from './audit.js'
import {
  type Facts,
  hasFacts,
  inMaintenance,
  type KnownNode,
  loadOf,
  mergeReports,
  recordText,
  reportedBy,
  type Seen,
} from './node-record.js'
import type {NodeRegistry} from './node-registry.js'
import type {NodeRows} from './node-rows.js'
import type {Transaction} from './transaction.js'

/** How long after its last heartbeat a process keeps its id from others, ms: three intervals of the default length. */
const aliveMs = 90_000
/** Longest maintenance that is given as a duration: a week. */
const longestMaintenanceMs = 604_800_000

/** Processes of a node that are known to have given way. */
const mostSuperseded = 8

export interface JoinOptions extends Partial<Incarnation> {
  maintenance?: Maintenance
}

/** How nodes come, send heartbeats, and are barred from new work. */
export class Nodes {
  readonly #nodes: NodeRegistry
  readonly #rows: NodeRows
  readonly #audit: Audit

  constructor(nodes: NodeRegistry, rows: NodeRows, audit: Audit) {
    this.#nodes = nodes
    this.#rows = rows
    this.#audit = audit
  }

  join(transaction: Transaction, scope: Scope, facts: NodeFacts, options: JoinOptions): string {
    const {now} = transaction
    const node = this.#nodes.present(scope, facts.id)
    if (node === undefined) this.#add(transaction, scope, facts, options)
    else {
      const order = orderOf(node, options, now)
      if (order === 'superseded') throw new SvcError('duplicate_node_id', {node: facts.id})
      if (order !== 'late') {
        const seen = seenAnew(node.seen, facts, options, now)
        this.#rows.saveAll(transaction, {...node, reported: reportedBy(facts), seen})
      }
    }
    return recordText(this.#present(scope, facts.id), now)
  }

  heartbeat(transaction: Transaction, scope: Scope, heartbeat: Heartbeat): HeartbeatOutcome {
    const {facts, isFull} = heartbeat
    const {id} = facts
    const node = isFull ? this.#nodes.present(scope, id) : this.#present(scope, id)
    if (node === undefined) {
      this.#add(transaction, scope, facts, heartbeat)
      return this.#outcome(transaction, this.#present(scope, id))
    }
    const order = orderOf(node, heartbeat, transaction.now)
    if (order === 'superseded' || order === 'other') throw new SvcError('duplicate_node_id', {node: id})
    if (order === 'late' || order === 'again') return this.#outcome(transaction, node)
    this.#rows.saveSeen(transaction, node, seenNow(node.seen, heartbeat, transaction.now))
    const reported = hasFacts(facts) ? mergeReports(node.reported, facts) : node.reported
    if (reported === node.reported) return this.#outcome(transaction, node)
    const changed = {...node, reported}
    this.#rows.save(transaction, changed)
    return this.#outcome(transaction, changed)
  }

  /** Of one in quarantine that is kept: it must not come back without. */
  leave(transaction: Transaction, scope: Scope, id: string): void {
    const node = this.#present(scope, id)
    const reported = reportedBy({id})
    const left = {...node, reported, maintenance: false, maintenanceUntil: null, leftAt: transaction.now}
    this.#rows.forget(transaction, node, node.quarantined ? left : undefined)
  }

  setQuarantine(
    transaction: Transaction,
    scope: Scope,
    {id, on, actor}: {id: string; on: boolean; actor: string},
  ): void {
    const node = this.#nodes.any(scope, id) ?? this.#present(scope, id)
    // Of one that has left, nothing is left but its quarantine.
    if (node.leftAt !== null && !on) this.#rows.forget(transaction, node, undefined)
    else this.#rows.save(transaction, {...node, quarantined: on})
    this.#audit.write(transaction, {scope, actor, action: 'node.quarantine', target: id, detail: {on}})
  }

  setMaintenance(
    transaction: Transaction,
    scope: Scope,
    {id, maintenance, actor}: {id: string; maintenance: Maintenance; actor: string},
  ): void {
    const {maintenance: on, maintenanceUntil} = maintenanceOf(maintenance, transaction.now)
    this.#rows.save(transaction, {...this.#present(scope, id), maintenance: on, maintenanceUntil})
    const detail = {on, until_unix_ms: maintenanceUntil}
    this.#audit.write(transaction, {scope, actor, action: 'node.maintenance', target: id, detail})
  }

  /** @throws unknown_node */
  known(scope: Scope, node: string): KnownNode {
    const found = this.#nodes.present(scope, node)
    if (found === undefined) throw new SvcError('unknown_node', {node})
    return found
  }

  /** A node that may keep what it has: also in maintenance. @throws unknown_node, node_quarantined */
  tolerated(scope: Scope, node: string): KnownNode {
    const found = this.known(scope, node)
    if (found.quarantined) throw new SvcError('node_quarantined', {node})
    return found
  }

  /** A node that may take something new. @throws unknown_node, node_quarantined, node_maintenance */
  admitted({now}: Transaction, scope: Scope, node: string): KnownNode {
    const found = this.tolerated(scope, node)
    if (inMaintenance(found, now)) throw new SvcError('node_maintenance', {node})
    return found
  }

  /** @throws node_not_found */
  #present(scope: Scope, node: string): KnownNode {
    const found = this.#nodes.present(scope, node)
    if (found === undefined) throw new SvcError('node_not_found', {node})
    return found
  }

  /** Adds a node that was not there, or has left: new but for its quarantine. */
  #add(transaction: Transaction, scope: Scope, facts: Facts, options: JoinOptions): void {
    const {id} = facts
    const {now} = transaction
    const before = this.#nodes.any(scope, id)
    this.#rows.saveAll(transaction, {
      no: before?.no ?? this.#rows.nextNo(transaction),
      scope,
      id,
      reported: reportedBy(facts),
      trust: before?.trust ?? 'trusted',
      ...maintenanceOf(options.maintenance, now),
      quarantined: before?.quarantined ?? false,
      joinedAt: now,
      leftAt: null,
      seen: seenAnew(undefined, facts, options, now),
    })
  }

  #outcome({now}: Transaction, node: KnownNode): HeartbeatOutcome {
    return {record: recordText(node, now), nodeCount: this.#nodes.count(node.scope)}
  }
}

/**
 * Which process of a node speaks: the one that is known, with something new, the same again, or something old; one that
 * gave way to it; or another, while the known one lives.
 */
function orderOf(
  {seen}: KnownNode,
  {incarnation, seq}: Partial<Incarnation>,
  now: number,
): 'new' | 'again' | 'late' | 'superseded' | 'other' {
  if (incarnation === undefined || seen.incarnation === null) return 'new'
  if (incarnation === seen.incarnation) {
    if (seq === undefined || seen.seq === null || seq > seen.seq) return 'new'
    return seq === seen.seq ? 'again' : 'late'
  }
  if (now - seen.lastSeen > aliveMs) return 'new'
  return seen.superseded.includes(incarnation) ? 'superseded' : 'other'
}

/** The processes that a new one comes after: none of them may take the id back from it. */
function supersededBy(incarnation: number | null, before: Seen | undefined): readonly number[] {
  if (before === undefined) return []
  const all = before.incarnation === null ? before.superseded : [...before.superseded, before.incarnation]
  return all.filter((each) => each !== incarnation).slice(-mostSuperseded)
}

/** After a join: all that was reported before is void, but that time goes on. */
function seenAnew(before: Seen | undefined, facts: Facts, process: Partial<Incarnation>, now: number): Seen {
  const incarnation = process.incarnation ?? null
  const isSame = before?.incarnation === incarnation
  return {
    lastSeen: Math.max(before?.lastSeen ?? 0, now),
    incarnation,
    seq: process.seq ?? (isSame ? (before?.seq ?? null) : null),
    superseded: isSame ? (before?.superseded ?? []) : supersededBy(incarnation, before),
    ...loadOf(facts),
    writeNo: 0,
  }
}

/** After a heartbeat: what it leaves out is as it was. */
function seenNow(before: Seen, heartbeat: Heartbeat, now: number): Omit<Seen, 'writeNo'> {
  const {cpu, memory} = loadOf(heartbeat.facts)
  const incarnation = heartbeat.incarnation ?? before.incarnation
  const isSame = incarnation === before.incarnation
  return {
    lastSeen: Math.max(before.lastSeen, now),
    incarnation,
    seq: heartbeat.seq ?? (isSame ? before.seq : null),
    superseded: isSame ? before.superseded : supersededBy(incarnation, before),
    cpu: cpu ?? before.cpu,
    memory: memory ?? before.memory,
  }
}

/** Until a time that is to come, else for a while, else until it is ended. */
function maintenanceOf(
  maintenance: Maintenance | undefined,
  now: number,
): {maintenance: boolean; maintenanceUntil: number | null} {
  if (!maintenance?.on) return {maintenance: false, maintenanceUntil: null}
  const {untilMs = 0, forMs = 0} = maintenance
  if (untilMs > now) return {maintenance: true, maintenanceUntil: untilMs}
  return {maintenance: true, maintenanceUntil: forMs > 0 ? now + Math.min(forMs, longestMaintenanceMs) : null}
}
