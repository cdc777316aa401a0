import type pg from 'pg'
import {SvcError} from '../../../errors/index.js'
import type {AuditEntry} from '../../protocol/audit.js'
import {blobTtlMs, maxScopeBlobBytes} from '../../protocol/remote-task.js'
import type {MeshStore, StoreLimits} from '../mesh-store.js'
import {pageOf} from '../message-rows.js'
import {blobsAtOnce, minCountedBytes} from '../retention.js'
import {UsedTokens} from './credentials.js'
import {Database, type PostgresOptions, statement} from './database.js'
import {reasonOf} from './fault.js'
import {Leases} from './leases.js'
import {Messages} from './messages.js'
import {migrate} from './migrate.js'
import {restoreSeen} from './node-rows.js'
import {Nodes} from './nodes.js'
import {purge} from './purge.js'
import {Replicas} from './replicas.js'
import {StoreSession} from './session.js'

export interface PostgresMeshStoreOptions extends PostgresOptions {
  /** Monotonic time, ms; replaced in tests. */
  monotonic?: () => number
  /** Interval at which the time is saved, ms; default 1000. */
  tickMs?: number
}

const sql = {
  check: statement('SELECT mesh_now()'),
  audit:
    statement(`SELECT id, at AS at_unix_ms, actor, action, target, detail FROM mesh_audit WHERE scope_id = $1 AND id < $2
ORDER BY id DESC LIMIT $3`),
  putBlob: statement('SELECT mesh_put_blob($1, $2, $3, $4, $5, $6, $7) AS is_stored'),
  getBlob: statement(
    'SELECT bytes FROM mesh_blobs WHERE scope_id = $1 AND sha256 = $2 AND expires_at > (SELECT mesh_now())',
  ),
  countLeases: statement(
    "SELECT count(*) AS count FROM mesh_exec_leases WHERE scope_id = $1 AND state = 'granted' AND expires_at > (SELECT mesh_now())",
  ),
}

/**
 * Opens the store of a control plane in a PostgreSQL database, which several control planes may share.
 * @param url such as `postgres://user@host:5432/database?sslmode=verify-full`; a missing password comes from PGPASSWORD or
 *   PGPASSFILE
 * @throws store_url_invalid, store_unreachable, store_session_missing, store_server_unsupported, store_rights_missing, store_newer,
 *   store_migration_failed
 */
export async function openPostgresMeshStore(
  url: string,
  limits: StoreLimits,
  {monotonic = () => performance.now(), tickMs = 1000, ...options}: PostgresMeshStoreOptions = {},
): Promise<MeshStore> {
  const database = connectionsTo(url, options)
  const clock = new Estimate(monotonic)
  const replicas = new Replicas(database)
  const session = new StoreSession({
    openSession: () => database.openSession(),
    onTime: (now) => clock.set(now),
    onConnect: async (client) => {
      await migrate(client, database.server)
      await client.query(restoreSeen)
      await replicas.register(client)
    },
    monotonic,
    tickMs,
  })
  try {
    await session.open()
    return meshStoreOf(database, {limits, session, clock, replicas})
  } catch (error) {
    await Promise.all([session.close(), database.close()])
    throw openingFault(error, database.server)
  }
}

/** @throws store_url_invalid without the URL, which may contain a password */
export function connectionsTo(url: string, options: PostgresOptions = {}): Database {
  try {
    return new Database(url, options)
  } catch (error) {
    throw new SvcError('store_url_invalid', {reason: reasonOf(error)})
  }
}

export function openingFault(error: unknown, server: string): SvcError {
  if (error instanceof SvcError) return error
  const {code} = error as pg.DatabaseError
  if (code === '42501') return new SvcError('store_rights_missing', {path: server}, {cause: error})
  return new SvcError('store_unreachable', {path: server, reason: reasonOf(error)}, {cause: error})
}

/** Estimates the time of the database from the last time that it has reported, without going back. */
class Estimate {
  readonly #monotonic: () => number
  #time = 0
  #readAt = 0
  #last = 0

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
  }

  set(time: number): void {
    this.#time = time
    this.#readAt = this.#monotonic()
  }

  /** Raises the estimate to a time that the database had earlier: a late report of the time makes it too low. */
  saw(time: number): void {
    if (time > this.now()) this.set(time)
  }

  now(): number {
    this.#last = Math.max(this.#last, Math.floor(this.#time + this.#monotonic() - this.#readAt))
    return this.#last
  }
}

interface StoreParts {
  limits: StoreLimits
  session: StoreSession
  clock: Estimate
  replicas: Replicas
}

function meshStoreOf(database: Database, {limits, session, clock, replicas}: StoreParts): MeshStore {
  const {leaseMs, maxScopeBlobBytes: maxBlobs = maxScopeBlobBytes} = limits
  const nodes = new Nodes(database, (now) => clock.saw(now))
  const leases = new Leases(database, leaseMs)
  const messages = new Messages(database, limits)
  const usedTokens = new UsedTokens(database)
  let closing: Promise<void> | undefined
  const close = async () => {
    await database.close()
    await session.close()
  }

  return {
    driver: 'postgres',
    place: database.server,
    now: () => clock.now(),

    join: (scope, facts, options = {}) => nodes.join(scope, facts, options),
    heartbeat: (scope, heartbeat) => nodes.heartbeat(scope, heartbeat),
    async leave(scope, id) {
      await nodes.leave(scope, id)
      session.arrived(scope, undefined)
    },
    listNodes: (scope, query) => nodes.list(scope, query),
    countNodes: (scope) => nodes.count(scope),
    setQuarantine: (scope, id, on, actor) => nodes.setQuarantine(scope, id, on, actor),
    setMaintenance: (scope, id, maintenance, actor) => nodes.setMaintenance(scope, id, maintenance, actor),

    grantLease: (scope, claim) => leases.grant(scope, claim),
    renewLease: (scope, held) => leases.renew(scope, held),
    releaseLease: (scope, held) => leases.release(scope, held),
    verifyLease: (scope, lease) => leases.verify(scope, lease),
    listLeases: (scope) => leases.list(scope),
    promote: (scope, skip, actor) => leases.promote(scope, skip, actor),
    revokeLease: (scope, lease, actor) => leases.revoke(scope, lease, actor),

    async deliver(scope, draft) {
      const delivered = await messages.deliver(scope, draft)
      if (delivered.duplicate === undefined) session.arrived(scope, draft.receiver_agent_id)
      return delivered
    },
    peek: (scope, query) => messages.peek(scope, query),
    claim: (scope, query) => messages.claim(scope, query),
    renewClaim: (scope, claim) => messages.renewClaim(scope, claim),
    ack: (scope, ack) => messages.ack(scope, ack),
    listDead: (scope, query) => messages.listDead(scope, query),
    async retryDead(scope, ids, actor) {
      const outcome = await messages.retryDead(scope, ids, actor)
      session.arrived(scope, undefined)
      return outcome
    },
    dropDead: (scope, ids, actor) => messages.dropDead(scope, ids, actor),
    countPending: (scope, query) => messages.countPending(scope, query),
    queueStats: (scope) => messages.stats(scope),
    onArrival: (listener) => session.onArrival(listener),

    async putBlob(scope, {sha256, bytes}) {
      const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      const values = [scope, sha256, content, blobTtlMs, maxBlobs, minCountedBytes, blobsAtOnce]
      const {is_stored} = await database.one<{is_stored: boolean}>(sql.putBlob, values)
      if (!is_stored) throw new SvcError('blobs_full', {limit: maxBlobs})
    },
    async getBlob(scope, sha256) {
      const [row] = await database.query<{bytes: Buffer}>(sql.getBlob, [scope, sha256])
      if (row === undefined) throw new SvcError('blob_not_found', {sha256})
      return row.bytes
    },

    async counts(scope) {
      const {pending_count: pending, dead_count: dead} = await messages.stats(scope)
      const {count} = await database.one<{count: number}>(sql.countLeases, [scope])
      return {nodes: await nodes.count(scope), leases: count, pending, dead}
    },

    async listAudit(scope, {limit, before = Number.MAX_SAFE_INTEGER}) {
      // One more row shows whether there is a next page.
      const found = await database.query<AuditEntry & {detail: string}>(sql.audit, [scope, before, limit + 1])
      const rows = found.slice(0, limit).map(({detail, ...row}): AuditEntry => ({...row, detail: JSON.parse(detail)}))
      return pageOf(rows, found.length > limit)
    },

    useTokenId: (id, keepUntilMs) => usedTokens.useTokenId(id, keepUntilMs),
    useBootstrap: (scope, digest, use) => usedTokens.useBootstrap(scope, digest, use),

    replicas: () => replicas.list(),
    async purge() {
      nodes.forgetCounts()
      return purge(database)
    },
    async check() {
      await database.query(sql.check)
    },
    get depth() {
      return database.depth + nodes.depth + messages.depth + usedTokens.depth
    },
    close() {
      closing ??= close()
      return closing
    },
  }
}
