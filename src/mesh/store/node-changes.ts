import type {Incarnation} from '../protocol/node.js'
import type {Heartbeat, Maintenance} from './mesh-store.js'
import {type Facts, type KnownNode, loadOf, type Seen} from './node-record.js'

/** Time after its last heartbeat during which a process keeps its node id, ms: three default intervals. */
const aliveMs = 90_000
/** Maximum maintenance given as a duration, ms: one week. */
const maxMaintenanceMs = 604_800_000

/** Maximum number of remembered superseded processes per node. */
const maxSuperseded = 8

export interface JoinOptions extends Partial<Incarnation> {
  maintenance?: Maintenance
}

/**
 * Classifies a request by process. It is a new, repeated or late request of the current process, a request of a
 * superseded process, or of another one while the current one is alive.
 */
export function orderOf(
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

/** Processes superseded by a new one, which must not get the node id back. */
function supersededBy(incarnation: number | null, before: Seen | undefined): readonly number[] {
  if (before === undefined) return []
  const all = before.incarnation === null ? before.superseded : [...before.superseded, before.incarnation]
  return all.filter((each) => each !== incarnation).slice(-maxSuperseded)
}

/** State after a join: replaces the previous state, but the last-seen time never decreases. */
export function seenAfterJoin(
  before: Seen | undefined,
  facts: Facts,
  process: Partial<Incarnation>,
  now: number,
): Seen {
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

/** State after a heartbeat: omitted values do not change. */
export function seenAfterHeartbeat(before: Seen, heartbeat: Heartbeat, now: number): Omit<Seen, 'writeNo'> {
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

/** Resolves the end of maintenance: a future time, or a duration, or none. */
export function maintenanceOf(
  maintenance: Maintenance | undefined,
  now: number,
): {maintenance: boolean; maintenanceUntil: number | null} {
  if (!maintenance?.on) return {maintenance: false, maintenanceUntil: null}
  const {untilMs = 0, forMs = 0} = maintenance
  if (untilMs > now) return {maintenance: true, maintenanceUntil: untilMs}
  return {maintenance: true, maintenanceUntil: forMs > 0 ? now + Math.min(forMs, maxMaintenanceMs) : null}
}
