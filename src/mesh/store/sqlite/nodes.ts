import {SvcError} from '../../../errors/index.js'
import type {Incarnation, NodeFacts} from '../../protocol/node.js'
import type {Heartbeat, HeartbeatOutcome, Maintenance, Scope} from '../mesh-store.js'
import type {Audit} from './audit.js'
import type {Turn} from './group-commit.js'
import {type Facts, inMaintenance, loadOf, recordText, tell, tellAnew, tellsMore} from './node-record.js'
import type {KnownNode, NodeRegistry, Seen} from './node-registry.js'
import type {NodeRows} from './node-rows.js'

/** How long after its last sign of life a process keeps its id from others, ms: three intervals of the default length. */
const aliveMs = 90_000
/** Longest maintenance that is given as a duration: a week. */
const longestMaintenanceMs = 604_800_000

/** Processes of a node that are known to have given way. */
const mostSuperseded = 8

export interface JoinOptions extends Partial<Incarnation> {
  maintenance?: Maintenance
}

/** How nodes come, show that they live, and are barred from new work. */
export interface Nodes {
  join(turn: Turn, scope: Scope, facts: NodeFacts, options: JoinOptions): string
  heartbeat(turn: Turn, scope: Scope, beat: Heartbeat): HeartbeatOutcome
  /** Of one in quarantine that is kept: it must not come back without. */
  leave(turn: Turn, scope: Scope, id: string): void
  setQuarantine(turn: Turn, scope: Scope, call: {id: string; on: boolean; actor: string}): void
  setMaintenance(turn: Turn, scope: Scope, call: {id: string; maintenance: Maintenance; actor: string}): void
  /** @throws unknown_node */
  known(scope: Scope, id: string): KnownNode
  /** A node that may take something new. @throws unknown_node, node_quarantined, node_maintenance */
  admitted(turn: Turn, scope: Scope, id: string): KnownNode
  /** A node that may keep what it has: also in maintenance. @throws unknown_node, node_quarantined */
  tolerated(scope: Scope, id: string): KnownNode
}

export function createNodes(nodes: NodeRegistry, rows: NodeRows, audit: Audit): Nodes {
  const outcome = (turn: Turn, node: KnownNode): HeartbeatOutcome => ({
    record: recordText(node, turn.now),
    nodeCount: nodes.count(node.scope),
  })

  function present(scope: Scope, node: string): KnownNode {
    const found = nodes.present(scope, node)
    if (found === undefined) throw new SvcError('node_not_found', {node})
    return found
  }

  function known(scope: Scope, node: string): KnownNode {
    const found = nodes.present(scope, node)
    if (found === undefined) throw new SvcError('unknown_node', {node})
    return found
  }

  function tolerated(scope: Scope, node: string): KnownNode {
    const found = known(scope, node)
    if (found.quarantined) throw new SvcError('node_quarantined', {node})
    return found
  }

  /** A node that was not there, or has left: new but for its quarantine. */
  function takeIn(turn: Turn, scope: Scope, facts: Facts, options: JoinOptions): void {
    const {id} = facts
    const before = nodes.any(scope, id)
    rows.saveWhole(turn, {
      no: before?.no ?? rows.nextNo(turn),
      scope,
      id,
      told: tell(facts),
      trust: before?.trust ?? 'trusted',
      ...maintenanceOf(options.maintenance, turn.now),
      quarantined: before?.quarantined ?? false,
      joinedAt: turn.now,
      leftAt: null,
      seen: seenAnew(undefined, facts, options, turn.now),
    })
  }

  return {
    known,
    tolerated,
    admitted(turn, scope, id) {
      const node = tolerated(scope, id)
      if (inMaintenance(node, turn.now)) throw new SvcError('node_maintenance', {node: id})
      return node
    },

    join(turn, scope, facts, options) {
      const node = nodes.present(scope, facts.id)
      if (node === undefined) takeIn(turn, scope, facts, options)
      else {
        const order = orderOf(node, options, turn.now)
        if (order === 'superseded') throw new SvcError('duplicate_node_id', {node: facts.id})
        if (order !== 'late')
          rows.saveWhole(turn, {...node, told: tell(facts), seen: seenAnew(node.seen, facts, options, turn.now)})
      }
      return recordText(present(scope, facts.id), turn.now)
    },

    heartbeat(turn, scope, beat) {
      const {facts, isFull} = beat
      const {id} = facts
      const node = isFull ? nodes.present(scope, id) : present(scope, id)
      if (node === undefined) {
        takeIn(turn, scope, facts, beat)
        return outcome(turn, present(scope, id))
      }
      const order = orderOf(node, beat, turn.now)
      if (order === 'superseded' || order === 'other') throw new SvcError('duplicate_node_id', {node: id})
      if (order === 'late' || order === 'again') return outcome(turn, node)
      rows.saveSeen(turn, node, seenNow(node.seen, beat, turn.now))
      const told = tellsMore(facts) ? tellAnew(node.told, facts) : node.told
      if (told === node.told) return outcome(turn, node)
      const changed = {...node, told}
      rows.save(turn, changed)
      return outcome(turn, changed)
    },

    leave(turn, scope, id) {
      const node = present(scope, id)
      const told = tell({id})
      const left = {...node, told, maintenance: false, maintenanceUntil: null, leftAt: turn.now}
      rows.forget(turn, node, node.quarantined ? left : undefined)
    },

    setQuarantine(turn, scope, {id, on, actor}) {
      const node = nodes.any(scope, id) ?? present(scope, id)
      // Of one that has left, nothing is left but its quarantine.
      if (node.leftAt !== null && !on) rows.forget(turn, node, undefined)
      else rows.save(turn, {...node, quarantined: on})
      audit.write(turn, {scope, actor, action: 'node.quarantine', target: id, detail: {on}})
    },

    setMaintenance(turn, scope, {id, maintenance, actor}) {
      const {maintenance: on, maintenanceUntil} = maintenanceOf(maintenance, turn.now)
      rows.save(turn, {...present(scope, id), maintenance: on, maintenanceUntil})
      const detail = {on, until_unix_ms: maintenanceUntil}
      audit.write(turn, {scope, actor, action: 'node.maintenance', target: id, detail})
    },
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

/** After a join: all that was told before is void, but that time goes on. */
function seenAnew(before: Seen | undefined, facts: Facts, process: Partial<Incarnation>, now: number): Seen {
  const incarnation = process.incarnation ?? null
  const isSame = before?.incarnation === incarnation
  return {
    lastSeen: Math.max(before?.lastSeen ?? 0, now),
    incarnation,
    seq: process.seq ?? (isSame ? (before?.seq ?? null) : null),
    superseded: isSame ? (before?.superseded ?? []) : supersededBy(incarnation, before),
    ...loadOf(facts),
    beat: 0,
  }
}

/** After a heartbeat: what it leaves out is as it was. */
function seenNow(before: Seen, beat: Heartbeat, now: number): Omit<Seen, 'beat'> {
  const {cpu, memory} = loadOf(beat.facts)
  const incarnation = beat.incarnation ?? before.incarnation
  const isSame = incarnation === before.incarnation
  return {
    lastSeen: Math.max(before.lastSeen, now),
    incarnation,
    seq: beat.seq ?? (isSame ? before.seq : null),
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
