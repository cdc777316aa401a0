import type {NodeFacts} from '../protocol/node.js'
import type {Scope} from './mesh-store.js'

/** Record reported by a node, without its load: as JSON text, and the fields that the store reads. */
export interface Reported {
  /** JSON text of a non-empty object. */
  record: string
  version: string
  labels: readonly string[]
  /** Default: `private`. */
  visibility: string
  runningTasks: number | undefined
}

/**
 * Last heartbeat of a node: time, process and load. Mutable, because a new object for each heartbeat would create too
 * much garbage.
 */
export interface Seen {
  /** Unix ms on the store's clock. */
  lastSeen: number
  incarnation: number | null
  seq: number | null
  /** Recent processes that used the id before, newest last. */
  superseded: readonly number[]
  cpu: number | null
  memory: number | null
  /** Number of the write that contains it; later writes have greater numbers. */
  writeNo: number
}

/** Record and state of a node. Immutable except for `seen`. */
export interface KnownNode {
  scope: Scope
  id: string
  reported: Reported
  trust: string
  maintenance: boolean
  maintenanceUntil: number | null
  quarantined: boolean
  joinedAt: number
  /** Time at which it left; only nodes in quarantine are kept after that. */
  leftAt: number | null
  readonly seen: Seen
}

/** The parts of a node that are listed. */
export interface ListedNode
  extends Pick<KnownNode, 'scope' | 'id' | 'reported' | 'trust' | 'maintenance' | 'maintenanceUntil' | 'quarantined'> {
  readonly seen: Pick<Seen, 'lastSeen' | 'cpu' | 'memory'>
}

export type Facts = Partial<NodeFacts> & {id: string}

/** Members set by the store or stored elsewhere, which are ignored in reports. */
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

/** True if a heartbeat contains more than the id and load of the node. */
export function hasFacts(facts: Facts): boolean {
  for (const name in facts) if (name !== 'id' && isReported([name, facts[name as keyof Facts]])) return true
  return false
}

export const reportedBy = (facts: Facts): Reported =>
  reportOf(Object.fromEntries(Object.entries(facts).filter(isReported)))

/** Merges a new report into the previous one. */
export function mergeReports(before: Reported, facts: Facts): Reported {
  const now = reportedBy(facts)
  if (now.record === before.record) return before
  const merged = reportOf({...JSON.parse(before.record), ...JSON.parse(now.record)})
  return merged.record === before.record ? before : merged
}

/** Report that is parsed only if more than the record is used, because that dominates the cost of a list. */
class UnreadReport implements Reported {
  readonly record: string
  #report: Reported | undefined

  constructor(record: string) {
    this.record = record
  }

  get #read(): Reported {
    this.#report ??= readReport(this.record)
    return this.#report
  }

  get version(): string {
    return this.#read.version
  }

  get labels(): readonly string[] {
    return this.#read.labels
  }

  get visibility(): string {
    return this.#read.visibility
  }

  get runningTasks(): number | undefined {
    return this.#read.runningTasks
  }
}

export const readLater = (record: string): Reported => new UnreadReport(record)

export const readReport = (record: string): Reported => reportOf(JSON.parse(record) as Record<string, unknown>, record)

function reportOf(facts: Record<string, unknown>, record = JSON.stringify(facts)): Reported {
  const {version = '', visibility = 'private', capabilities, running_tasks: runningTasks} = facts as Partial<NodeFacts>
  return {record, version, visibility, labels: capabilities?.labels ?? [], runningTasks}
}

/** CPU usage and free memory as stored; null if not a finite number. */
export const loadOf = ({cpu_usage_pct: cpu, memory_free_bytes: memory}: Facts) => ({
  cpu: Number.isFinite(cpu) ? (cpu as number) : null,
  memory: Number.isFinite(memory) ? Math.trunc(memory as number) : null,
})

/** Maintenance ends automatically at its deadline. */
export const inMaintenance = ({maintenance, maintenanceUntil}: ListedNode, now: number): boolean =>
  maintenance && (maintenanceUntil === null || maintenanceUntil > now)

/** Record of a node as JSON text, concatenated from strings because parsing would be too slow for heartbeats. */
export function recordText(node: ListedNode, now: number): string {
  const {cpu, memory} = node.seen
  let text = `${node.reported.record.slice(0, -1)},"last_seen_unix_ms":${node.seen.lastSeen}`
  if (cpu !== null) text += `,"cpu_usage_pct":${cpu}`
  if (memory !== null) text += `,"memory_free_bytes":${memory}`
  return `${text},"trust_tier":"${node.trust}"${scopeAndConditions(node, now)}}`
}

/** Record of a node for brief lists, as JSON text. */
export function briefText(node: ListedNode, now: number): string {
  const {version, labels, runningTasks} = node.reported
  const text = JSON.stringify({id: node.id, version, capabilities: {labels}, running_tasks: runningTasks})
  return `${text.slice(0, -1)},"last_seen_unix_ms":${node.seen.lastSeen}${scopeAndConditions(node, now)}}`
}

function scopeAndConditions(node: ListedNode, now: number): string {
  let text = node.scope === '' ? '' : `,"scope_id":${JSON.stringify(node.scope)}`
  if (inMaintenance(node, now)) {
    text += ',"maintenance":true'
    if (node.maintenanceUntil !== null) text += `,"maintenance_until_unix_ms":${node.maintenanceUntil}`
  }
  return node.quarantined ? `${text},"quarantined":true` : text
}
