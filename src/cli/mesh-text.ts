import {counted, oneLine} from '../errors/index.js'
import type {
  AuditEntry,
  DeadMessage,
  ExecLease,
  MeshStats,
  MeshStatus,
  NodeChange,
  NodeRecord,
  NodeState,
  QueueStats,
  Replica,
  StoredMessage,
} from '../mesh/index.js'
import {age, beginning, durationText, time} from './cell-text.js'
import {formatTable, type TableView, wide, wrapped} from './table.js'

const stateText = ({maintenance_until_unix_ms: until}: NodeRecord, state: NodeState): string =>
  state === 'maintenance' && until !== undefined ? `maintenance until ${time(until)}` : state

/** `maintenance, 5m left` */
const stateLeft = ({maintenance_until_unix_ms: until}: NodeRecord, state: NodeState, atMs: number): string =>
  state === 'maintenance' && until !== undefined ? `maintenance, ${durationText(until - atMs)} left` : state

const labelsOf = ({capabilities}: NodeRecord): string => oneLine((capabilities?.labels ?? []).join(' '))

/** @param stateOf state of a node; @param atMs time of the list, Unix ms */
export const formatNodes = (
  nodes: readonly NodeRecord[],
  {stateOf, atMs}: {stateOf: (node: NodeRecord) => NodeState; atMs: number},
  view?: TableView,
): string =>
  formatTable(
    ['NODE', 'VERSION', 'STATE', 'SEEN', 'TASKS', wide('LAST SEEN'), wrapped('LABELS')],
    nodes.map((node) => [
      oneLine(node.id),
      oneLine(node.version),
      stateLeft(node, stateOf(node), atMs),
      age(node.last_seen_unix_ms, atMs),
      String(node.running_tasks ?? '-'),
      time(node.last_seen_unix_ms),
      labelsOf(node),
    ]),
    view,
    'No nodes.',
  )

const changeTexts: Readonly<Record<NodeChange['event'], string>> = {
  listed: 'is listed',
  joined: 'has joined',
  changed: 'has changed',
  left: 'has left',
}

/** `12:04:31 rig1 has changed: stale, 0.1.0, pool=train` */
export function changeLine({event, state, node}: NodeChange, at: Date): string {
  const facts = [stateText(node, state), oneLine(node.version), labelsOf(node)].filter(Boolean)
  const details = event === 'left' ? '' : `: ${facts.join(', ')}`
  return `${at.toISOString().slice(11, 19)} ${oneLine(node.id)} ${changeTexts[event]}${details}`
}

export const formatLeases = (leases: readonly ExecLease[], view?: TableView, now = Date.now()): string =>
  formatTable(
    ['LEASE', wrapped('KEY'), wrapped('HOLDER'), 'LEFT', wide('UNTIL')],
    leases.map(({lease_id: id, scope_key: key, holder_node_id: holder, expires_unix_ms: until}) => [
      id,
      oneLine(key),
      oneLine(holder),
      durationText(until - now),
      time(until),
    ]),
    view,
    'No leases.',
  )

export const formatMeshMessages = (messages: readonly StoredMessage[], view?: TableView): string =>
  formatTable(
    ['MESSAGE', 'FROM', 'TYPE', 'PRIORITY', 'AGE', wide('SENT'), wide('HELD BY'), wrapped('PAYLOAD')],
    messages.map((message) => [
      String(message.id),
      message.sender_agent_id,
      oneLine(message.message_type),
      String(message.priority),
      age(message.created_unix_ms),
      time(message.created_unix_ms),
      oneLine(message.lease_holder_node_id ?? '-'),
      beginning(message.payload),
    ]),
    view,
    'No messages.',
  )

export const formatDeadMessages = (messages: readonly DeadMessage[], view?: TableView): string =>
  formatTable(
    ['MESSAGE', 'FROM', 'TO', 'TYPE', 'ATTEMPTS', 'AGE', wide('DEAD SINCE'), wrapped('PAYLOAD')],
    messages.map((message) => [
      String(message.id),
      message.sender_agent_id,
      message.receiver_agent_id,
      oneLine(message.message_type),
      String(message.delivery_attempts),
      age(message.dead_unix_ms),
      time(message.dead_unix_ms),
      beginning(message.payload),
    ]),
    view,
    'No dead letters.',
  )

export const formatAudit = (entries: readonly AuditEntry[], view?: TableView): string =>
  formatTable(
    ['ENTRY', 'AGE', wide('TIME'), wrapped('ACTOR'), 'ACTION', wrapped('TARGET'), wide(wrapped('DETAIL'))],
    entries.map(({id, at_unix_ms: at, actor, action, target, detail}) => [
      String(id),
      age(at),
      time(at),
      oneLine(actor),
      action,
      beginning(target),
      beginning(JSON.stringify(detail)),
    ]),
    view,
    'No entries.',
  )

const tokenNames = [
  ['token_set', 'mesh'],
  ['worker_token_set', 'worker'],
  ['submitter_token_set', 'submitter'],
  ['admin_token_set', 'admin'],
  ['jwt_secret_set', 'JWT key'],
] as const

const stateTexts: Readonly<Record<MeshStatus['state'], string>> = {
  unconfigured: 'not configured',
  unreachable: 'not reachable',
  denied: 'access denied',
  connected: 'connected',
}

export function formatMeshStats(stats: MeshStats): string {
  const {nodes, leases, pending_count: pending, oldest_pending_age_ms: ageMs, dead_count: dead} = stats
  const countsText = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .sort(([, a], [, b]) => b - a)
      .map(([name, count]) => `${oneLine(name)} (${count})`)
      .join(', ')
  return formatFacts([
    ['Nodes', String(nodes ?? 'unknown')],
    ['Leases', String(leases ?? 'unknown')],
    ['Pending', `${pending}${ageMs === null ? '' : `, the oldest accepted ${durationText(ageMs)} ago`}`],
    ['By kind', countsText(stats.pending_by_kind)],
    ['By priority', countsText(stats.pending_by_priority)],
    ['Dead letters', String(dead)],
  ])
}

/** Lines of names and texts; omits empty texts. */
const formatFacts = (facts: readonly (readonly [name: string, text: string])[]): string =>
  facts
    .filter(([, text]) => text !== '')
    .map(([name, text]) => `${(name === '' ? '' : `${name}:`).padEnd(15)}${text}\n`)
    .join('')

export function formatMeshStatus(status: MeshStatus): string {
  const {control_url: url, state, error, security, self_record: self, worker, registry} = status
  const tokens = tokenNames.filter(([name]) => security[name]).map(([, role]) => role)
  const overlays = status.overlay.map(
    ({provider, connected, detail}) => `${provider} (${connected ? 'connected, ' : ''}${detail})`,
  )
  const nodes = registry === null ? oneLine(status.registry_error ?? '') : registryText(registry.nodes)
  return formatFacts([
    ['Control plane', [url, stateTexts[state], error].filter(Boolean).join(': ')],
    ['Messages', status.queue === null ? '' : queueText(status.queue)],
    ...(status.replicas ?? []).map(replicaLine),
    ['This node', self.id === null ? 'no node id' : oneLine(self.id)],
    ['Tokens', tokens.length === 0 ? 'none' : tokens.join(', ')],
    ['Secrets in', status.env_file ?? ''],
    // A user has one worker, whatever its mesh.
    ['Worker', worker === null ? 'not running' : `pid ${worker.pid} of this user since ${time(worker.since_unix_ms)}`],
    ['Registry', `${status.registry_path} (${nodes})`],
    ['Overlay', overlays.join(', ')],
    ['WireGuard', oneLine(status.wireguard_endpoint ?? '')],
  ])
}

const replicaLine = ({id, version, host, since_unix_ms: since}: Replica, i: number): [name: string, text: string] => [
  i === 0 ? 'Replicas' : '',
  `${oneLine(id)}, version ${oneLine(version)}, on ${oneLine(host)} since ${time(since)}`,
]

const queueText = ({pending_count: pending, dead_count: dead}: QueueStats): string =>
  `${pending} queued${dead > 0 ? `, ${dead} dead` : ''}`

function registryText(nodes: readonly {id: string}[]): string {
  const ids = nodes.map(({id}) => oneLine(id)).join(', ')
  return `${counted(nodes.length, 'node')}${ids === '' ? '' : `: ${ids}`}`
}
