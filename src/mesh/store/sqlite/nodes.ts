import {SvcError} from '../../../errors/index.js'
import type {NodeFacts} from '../../protocol/node.js'
import type {Heartbeat, HeartbeatOutcome, Maintenance, Scope} from '../mesh-store.js'
import {type JoinOptions, maintenanceOf, orderOf, seenAfterHeartbeat, seenAfterJoin} from '../node-changes.js'
import {type Facts, hasFacts, inMaintenance, mergeReports, recordText, reportedBy} from '../node-record.js'
import type {Audit} from './audit.js'
import type {NodeRegistry, NumberedNode} from './node-registry.js'
import type {NodeRows} from './node-rows.js'
import type {Transaction} from './transaction.js'

/** Joins, heartbeats, quarantine and maintenance of nodes. */
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
        const seen = seenAfterJoin(node.seen, facts, options, now)
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
    this.#rows.saveSeen(transaction, node, seenAfterHeartbeat(node.seen, heartbeat, transaction.now))
    const reported = hasFacts(facts) ? mergeReports(node.reported, facts) : node.reported
    if (reported === node.reported) return this.#outcome(transaction, node)
    const changed = {...node, reported}
    this.#rows.save(transaction, changed)
    return this.#outcome(transaction, changed)
  }

  /** Removes a node. One in quarantine is kept, so that it is still in quarantine when it joins again. */
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
    // A node that has left is only kept for its quarantine.
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
  requireKnown(scope: Scope, node: string): NumberedNode {
    const found = this.#nodes.present(scope, node)
    if (found === undefined) throw new SvcError('unknown_node', {node})
    return found
  }

  /** For operations on leases and claims that the node already holds. @throws unknown_node, node_quarantined */
  requireNotQuarantined(scope: Scope, node: string): NumberedNode {
    const found = this.requireKnown(scope, node)
    if (found.quarantined) throw new SvcError('node_quarantined', {node})
    return found
  }

  /** For new leases. @throws unknown_node, node_quarantined, node_maintenance */
  requireAvailable({now}: Transaction, scope: Scope, node: string): NumberedNode {
    const found = this.requireNotQuarantined(scope, node)
    if (inMaintenance(found, now)) throw new SvcError('node_maintenance', {node})
    return found
  }

  /** @throws node_not_found */
  #present(scope: Scope, node: string): NumberedNode {
    const found = this.#nodes.present(scope, node)
    if (found === undefined) throw new SvcError('node_not_found', {node})
    return found
  }

  /** Adds a new node, or one that has left, whose quarantine is kept. */
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
      seen: seenAfterJoin(undefined, facts, options, now),
    })
  }

  #outcome({now}: Transaction, node: NumberedNode): HeartbeatOutcome {
    return {record: recordText(node, now), nodeCount: this.#nodes.count(node.scope)}
  }
}
