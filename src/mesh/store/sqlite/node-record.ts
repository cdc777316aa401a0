import type {NodeFacts} from '../../protocol/node.js'
import type {KnownNode} from './node-registry.js'

/** What a node told of itself, without its load: as text, and the parts that are looked at here. */
export interface Told {
  /** JSON text of an object that is not empty. */
  record: string
  version: string
  labels: readonly string[]
  /** `private` where it was left out. */
  visibility: string
}

export type Facts = Partial<NodeFacts> & {id: string}

/** What the store says of a node, or keeps elsewhere: not taken from what the node told. */
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

const isLogged = ([name, value]: [string, unknown]) => value !== undefined && !ownMembers.has(name)

/** Whether a heartbeat tells more than that the node is there and how loaded it is. */
export function tellsMore(facts: Facts): boolean {
  for (const name in facts) if (name !== 'id' && isLogged([name, facts[name as keyof Facts]])) return true
  return false
}

export const tell = (facts: Facts): Told => told(Object.fromEntries(Object.entries(facts).filter(isLogged)))

/** What was told before, with what is told now in its place. */
export function tellAnew(before: Told, facts: Facts): Told {
  const now = tell(facts)
  if (now.record === before.record) return before
  const merged = told({...JSON.parse(before.record), ...JSON.parse(now.record)})
  return merged.record === before.record ? before : merged
}

export const readTold = (record: string): Told => told(JSON.parse(record) as Record<string, unknown>, record)

function told(facts: Record<string, unknown>, record = JSON.stringify(facts)): Told {
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
  let text = `${node.told.record.slice(0, -1)},"last_seen_unix_ms":${node.seen.lastSeen}`
  if (cpu !== null) text += `,"cpu_usage_pct":${cpu}`
  if (memory !== null) text += `,"memory_free_bytes":${memory}`
  return `${text},"trust_tier":"${node.trust}"${scopeAndConditions(node, now)}}`
}

/** The members that a list for people needs. */
export function briefText(node: KnownNode, now: number): string {
  const {version, labels} = node.told
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
