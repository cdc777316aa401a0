import type {NodeFacts} from '../../protocol/node.js'
import type {Scope} from '../mesh-store.js'

/** What a node reports of itself, without its load: as text, and the parts that are read here. */
export interface Reported {
  /** JSON text of an object that is not empty. */
  record: string
  version: string
  labels: readonly string[]
  /** `private` where it was left out. */
  visibility: string
}

/**
 * When a node was heard of last, by which of its processes, and what that reported of its load. It is changed in place:
 * heartbeats are too many to leave something behind each.
 */
export interface Seen {
  /** Unix ms of the clock of the store. */
  lastSeen: number
  incarnation: number | null
  seq: number | null
  /** The processes that had the id before this one, the last of them, newest last. */
  superseded: readonly number[]
  cpu: number | null
  memory: number | null
  /** Number of the write that this is in: one with a greater number is newer. */
  writeNo: number
}

/** A node as the store knows it. But for when it was seen it is never changed, but replaced. */
export interface KnownNode {
  /** Its number in the journal of heartbeats; one that comes back has another. */
  no: number
  scope: Scope
  id: string
  reported: Reported
  trust: string
  maintenance: boolean
  maintenanceUntil: number | null
  quarantined: boolean
  joinedAt: number
  /** It has left; what is known is only that it must not come back unseen. */
  leftAt: number | null
  readonly seen: Seen
}

export type Facts = Partial<NodeFacts> & {id: string}

/** What the store says of a node, or keeps elsewhere: not taken from what the node reports. */
const ownMembers: ReadonlySet<string> = new Set([
  'last_seen_unix_ms',
  'scope_id',
  'trust_tier',
  'maintenance',
  'maintenance_until_unix_ms',
  'quarantined',
  'cpu_usage_pct',
  'memory_free_bytes',
  'incarnation',
  'seq',
])

const isReported = ([name, value]: [string, unknown]) => value !== undefined && !ownMembers.has(name)

/** Whether a heartbeat reports more than that the node is there and how loaded it is. */
export function hasFacts(facts: Facts): boolean {
  for (const name in facts) if (name !== 'id' && isReported([name, facts[name as keyof Facts]])) return true
  return false
}

export const reportedBy = (facts: Facts): Reported =>
  reportOf(Object.fromEntries(Object.entries(facts).filter(isReported)))

/** What was reported before, with what is reported now in its place. */
export function mergeReports(before: Reported, facts: Facts): Reported {
  const now = reportedBy(facts)
  if (now.record === before.record) return before
  const merged = reportOf({...JSON.parse(before.record), ...JSON.parse(now.record)})
  return merged.record === before.record ? before : merged
}

export const readReport = (record: string): Reported => reportOf(JSON.parse(record) as Record<string, unknown>, record)

function reportOf(facts: Record<string, unknown>, record = JSON.stringify(facts)): Reported {
  const {version, visibility, capabilities} = facts as Partial<NodeFacts>
  return {record, version: version ?? '', visibility: visibility ?? 'private', labels: capabilities?.labels ?? []}
}

/** Free memory and use of the processor as they are kept: numbers that JSON can carry, or none. */
export const loadOf = ({cpu_usage_pct: cpu, memory_free_bytes: memory}: Facts) => ({
  cpu: Number.isFinite(cpu) ? (cpu as number) : null,
  memory: Number.isFinite(memory) ? Math.trunc(memory as number) : null,
})

/** Maintenance ends by itself at its deadline. */
export const inMaintenance = ({maintenance, maintenanceUntil}: KnownNode, now: number): boolean =>
  maintenance && (maintenanceUntil === null || maintenanceUntil > now)

/** The record as it is given out, as JSON text. Put together from texts: nothing is parsed for a heartbeat. */
export function recordText(node: KnownNode, now: number): string {
  const {cpu, memory} = node.seen
  let text = `${node.reported.record.slice(0, -1)},"last_seen_unix_ms":${node.seen.lastSeen}`
  if (cpu !== null) text += `,"cpu_usage_pct":${cpu}`
  if (memory !== null) text += `,"memory_free_bytes":${memory}`
  return `${text},"trust_tier":"${node.trust}"${scopeAndConditions(node, now)}}`
}

/** The members that a list for people needs. */
export function briefText(node: KnownNode, now: number): string {
  const {version, labels} = node.reported
  const text = JSON.stringify({id: node.id, version, capabilities: {labels}})
  return `${text.slice(0, -1)},"last_seen_unix_ms":${node.seen.lastSeen}${scopeAndConditions(node, now)}}`
}

function scopeAndConditions(node: KnownNode, now: number): string {
  let text = node.scope === '' ? '' : `,"scope_id":${JSON.stringify(node.scope)}`
  if (inMaintenance(node, now)) {
    text += ',"maintenance":true'
    if (node.maintenanceUntil !== null) text += `,"maintenance_until_unix_ms":${node.maintenanceUntil}`
  }
  return node.quarantined ? `${text},"quarantined":true` : text
}
