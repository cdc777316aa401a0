import {SvcError} from '../../errors/index.js'

/**
 * Kind of a column in an export. `utf8` is text that PostgreSQL stores as bytes; `hex` and `base64` are bytes; `json` is
 * an object whose members are sorted, because PostgreSQL does not keep their order.
 */
type Kind = 'text' | 'utf8' | 'integer' | 'number' | 'flag' | 'json' | 'hex' | 'base64'

export interface ExportedTable {
  /** Columns that identify a row, and the order of the rows. */
  readonly key: readonly string[]
  /** Tables to read, if several form a row. */
  readonly from?: string
  /** SQL of the size of a row that can be large, bytes. */
  readonly size?: string
  /** Kinds by column; `?` if it can be null. */
  readonly columns: Readonly<Record<string, Kind | `${Kind}?`>>
}

/** Tables of an export. What can be derived from them, such as limits of inboxes, is not exported. */
export const exportedTables = {
  mesh_nodes: {
    key: ['scope_id', 'node_id'],
    from: 'mesh_nodes LEFT JOIN mesh_node_seen USING (scope_id, node_id)',
    size: 'octet_length(record_json)',
    columns: {
      scope_id: 'text',
      node_id: 'text',
      trust_tier: 'text',
      maintenance: 'flag',
      maintenance_until: 'integer?',
      quarantined: 'flag',
      joined_at: 'integer',
      left_at: 'integer?',
      record_json: 'text',
      last_seen: 'integer?',
      incarnation: 'integer?',
      seq: 'integer?',
      superseded: 'text?',
      cpu: 'number?',
      memory: 'integer?',
    },
  },
  mesh_exec_leases: {
    key: ['scope_id', 'scope_key'],
    columns: {
      scope_id: 'text',
      scope_key: 'text',
      lease_id: 'integer',
      holder: 'text',
      granted_at: 'integer',
      expires_at: 'integer',
      renewals: 'integer',
      state: 'text',
      ended_at: 'integer?',
      audit_id: 'integer',
    },
  },
  mesh_messages: {
    key: ['id'],
    size: 'octet_length(payload) + coalesce(octet_length(jwe), 0)',
    columns: {
      id: 'integer',
      scope_id: 'text',
      sender: 'text',
      receiver: 'text',
      type: 'text',
      priority: 'integer',
      privacy_class: 'text?',
      task_kind: 'text?',
      holder: 'text?',
      lease_expires: 'integer?',
      attempts: 'integer',
      tried_at: 'integer?',
      created_at: 'integer',
      acked_at: 'integer?',
      dead_at: 'integer?',
      idem_key: 'text?',
      body_sha256: 'hex?',
      model_id: 'text?',
      traceparent: 'text?',
      sender_node: 'text?',
      jwe: 'text?',
      payload: 'utf8',
      requirements: 'json?',
    },
  },
  mesh_jti: {key: ['jti'], columns: {jti: 'text', exp: 'integer'}},
  mesh_bootstrap: {
    key: ['token_sha256'],
    columns: {token_sha256: 'text', scope_id: 'text', expires_at: 'integer', used_at: 'integer', used_by: 'text'},
  },
  mesh_audit: {
    key: ['id'],
    columns: {
      id: 'integer',
      at: 'integer',
      scope_id: 'text',
      actor: 'text',
      action: 'text',
      target: 'text',
      detail: 'json',
    },
  },
  mesh_blobs: {
    key: ['scope_id', 'sha256'],
    size: 'size',
    columns: {scope_id: 'text', sha256: 'text', size: 'integer', expires_at: 'integer', bytes: 'base64'},
  },
} as const satisfies Readonly<Record<string, ExportedTable>>

/** Columns of a node that are stored in `mesh_node_seen`. */
export const seenColumns = ['last_seen', 'incarnation', 'seq', 'superseded', 'cpu', 'memory'] as const

/** Columns of a row that are stored in the table itself. */
export const ownColumns = ({columns}: ExportedTable): string[] =>
  Object.keys(columns).filter((name) => !seenColumns.some((seen) => seen === name))

/**
 * One row: the last drawn numbers, and an upper bound of all times with its maximum lead over the actual time, ms. It is
 * the last row, so that no other row of a mesh in use has a later number or time.
 */
export const exportedCounters = {
  key: [],
  columns: {clock: 'integer', clock_ahead: 'integer', fence: 'integer', message_id: 'integer', audit_id: 'integer'},
} as const satisfies ExportedTable

export type Counters = Record<keyof typeof exportedCounters.columns, number>

/** All tables of an export, in their order. */
export const allTables: Readonly<Record<string, ExportedTable>> = {
  ...exportedTables,
  mesh_counters: exportedCounters,
}

export interface ExportedRow {
  table: string
  record: Readonly<Record<string, unknown>>
}

const kindOf = (kind: string) => kind.replace('?', '') as Kind

/** Converts a row of a database. */
export function toRecord({columns}: ExportedTable, row: Readonly<Record<string, unknown>>): ExportedRow['record'] {
  return Object.fromEntries(
    Object.entries(columns).map(([name, kind]) => [name, row[name] === null ? null : toJson(kindOf(kind), row[name])]),
  )
}

/** Converts a value that is not null. */
function toJson(kind: Kind, value: unknown): unknown {
  switch (kind) {
    case 'flag':
      return Boolean(value)
    case 'json':
      return sorted(JSON.parse(value as string))
    case 'hex':
    case 'base64':
      return (value as Buffer).toString(kind)
    case 'utf8':
      return String(value)
    default:
      return value
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]))
}

const isOfKind: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  utf8: (value) => typeof value === 'string',
  integer: Number.isSafeInteger,
  number: Number.isFinite,
  flag: (value) => typeof value === 'boolean',
  json: (value) => typeof value === 'object' && value !== null,
  hex: (value) => typeof value === 'string' && /^([0-9a-f]{2})*$/.test(value),
  base64: (value) => typeof value === 'string' && value.length % 4 === 0 && !/[^A-Za-z0-9+/=]/.test(value),
}

/** Describes what is wrong with a row of an export; undefined if it is valid. */
export function faultOf({table, record}: ExportedRow): string | undefined {
  const columns = allTables[table]?.columns
  if (columns === undefined || record === null || typeof record !== 'object') return 'it is not a row of a mesh'
  for (const [name, kind] of Object.entries(columns)) {
    const value = record[name]
    const isValid = value === null ? kind.endsWith('?') : isOfKind[kindOf(kind)](value)
    if (!isValid) return `${table}.${name} is invalid`
  }
  return undefined
}

/** Converts the columns of a row for a database. @param convert by kind; other values are not changed */
export function fromRecord(
  {columns}: ExportedTable,
  record: ExportedRow['record'],
  convert: Readonly<Partial<Record<Kind, (value: never) => unknown>>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(columns).map(([name, kind]) => {
      const [value, change] = [record[name], convert[kindOf(kind)]]
      return [name, value === null || change === undefined ? value : change(value as never)]
    }),
  )
}

export const invalidExport = (path: string, place: string, fault: string, cause?: unknown): SvcError =>
  new SvcError('mesh_export_invalid', {path, place, fault}, {cause})
