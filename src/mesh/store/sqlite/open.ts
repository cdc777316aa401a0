import type {Database} from 'better-sqlite3'
import {SvcError} from '../../../errors/index.js'
import {applyFragments, openDatabase, placeCheck, storeError} from '../../../store/index.js'
import type {MeshStore, Scope, StoreLimits} from '../mesh-store.js'
import {digestOf} from '../message-rows.js'
import {newReplica} from '../replica.js'
import {Audit} from './audit.js'
import {Backlog} from './backlog.js'
import {Blobs} from './blobs.js'
import {Claims} from './claims.js'
import type {ClockSources} from './clock.js'
import {Counters} from './counters.js'
import {DeadMessages} from './dead-messages.js'
import {unavailable} from './fault.js'
import {GroupCommit} from './group-commit.js'
import {HeartbeatJournal} from './heartbeat-journal.js'
import {Leases} from './leases.js'
import {lockStoreFile} from './lock-file.js'
import {Messages} from './messages.js'
import {createNodeList} from './node-list.js'
import {NodeRegistry} from './node-registry.js'
import {NodeRows} from './node-rows.js'
import {Nodes} from './nodes.js'
import {Purge} from './purge.js'
import {meshStoreFragment} from './schema.js'
import {StoreClock} from './store-clock.js'
import type {Transaction} from './transaction.js'
import {UsedTokens} from './used-tokens.js'

export interface SqliteMeshStoreOptions {
  /** System time (Unix ms) and monotonic time (ms); replaced in tests. */
  wallClock?: () => number
  monotonic?: () => number
  /** Timeout of the wait for a lock of another process, ms. */
  lockTimeoutMs?: number
}

/** Maximum size of the page cache, KiB. */
const cacheKiB = 131_072

/**
 * Opens the store of a control plane in a SQLite file. While it is open, no other control plane can open it; other
 * processes can read it.
 * @throws store_busy if another control plane has opened it; store_unopenable, store_unwritable, store_damaged,
 *   store_newer
 */
export async function openSqliteMeshStore(
  path: string,
  limits: StoreLimits,
  {wallClock = Date.now, monotonic = () => performance.now(), lockTimeoutMs = 5000}: SqliteMeshStoreOptions = {},
): Promise<MeshStore> {
  const unlock = await lockStoreFile(path)
  try {
    const database = await openDatabase(path, {durability: 'full', busyTimeoutMs: 1000})
    try {
      applyFragments(database, path, [meshStoreFragment])
      return meshStoreOf(database, {limits, sources: {wallClock, monotonic}, lockTimeoutMs, unlock})
    } catch (error) {
      database.close()
      throw storeError(error, path)
    }
  } catch (error) {
    unlock()
    throw error
  }
}

interface StoreParts {
  limits: StoreLimits
  sources: ClockSources
  lockTimeoutMs: number
  unlock: () => void
}

function openTables(database: Database, limits: StoreLimits, sources: ClockSources) {
  const {leaseMs, maxScopeBlobBytes} = limits
  database.pragma(`cache_size = -${cacheKiB}`)
  const clock = new StoreClock(database, sources)
  // From here on, locks are polled with a timer, because waiting in SQLite would block the event loop.
  database.pragma('busy_timeout = 0')
  const counters = new Counters(database)
  const audit = new Audit(database)
  const registry = new NodeRegistry(database)
  const journal = new HeartbeatJournal(database, registry)
  const nodes = new Nodes(registry, new NodeRows(database, {nodes: registry, journal, counters}), audit)
  const leases = new Leases(database, {nodes, audit, counters, leaseMs})
  const backlog = new Backlog(database)
  const messages = new Messages(database, {backlog, counters, limits})
  const claims = new Claims(database, {nodes, audit, backlog, leaseMs})
  const deadMessages = new DeadMessages(database, {audit, backlog, claims, messages})
  const usedTokens = new UsedTokens(database, audit)
  const blobs = new Blobs(database, maxScopeBlobBytes)
  const leave = (transaction: Transaction, scope: Scope, id: string) => {
    nodes.leave(transaction, scope, id)
    leases.releaseOf(transaction, scope, id)
    claims.releaseOf(transaction, scope, id)
  }
  const purge = new Purge(database, {
    backlog,
    blobs,
    usedTokens,
    nodes: registry,
    leave: (transaction, {scope, id}) => leave(transaction, scope, id),
  })
  const listNodes = createNodeList(database, registry)
  return {
    ...{
      audit,
      backlog,
      blobs,
      claims,
      clock,
      counters,
      deadMessages,
      journal,
      leases,
      messages,
      nodes,
      purge,
      registry,
    },
    ...{leave, listNodes, usedTokens},
  }
}

function meshStoreOf(database: Database, {limits, sources, lockTimeoutMs, unlock}: StoreParts): MeshStore {
  const tables = openTables(database, limits, sources)
  const {audit, backlog, blobs, claims, clock, deadMessages, journal, leases, messages, nodes, purge, usedTokens} =
    tables
  const requirePlace = placeCheck(database.name)
  const group = new GroupCommit({
    database,
    now: (undo) => clock.begin(undo),
    monotonic: sources.monotonic,
    lockTimeoutMs,
    requirePlace,
    begin(transaction, lane) {
      clock.saveBound(transaction)
      if (lane === 'heartbeats') return
      leases.sweep(transaction)
      claims.sweep(transaction)
    },
    end(transaction) {
      journal.flush(transaction)
      tables.counters.flush()
    },
  })
  const write = <T>(work: (transaction: Transaction) => T) => group.run('durable', work)
  const read = async <T>(work: (now: number) => T): Promise<T> => {
    try {
      return work(clock.now())
    } catch (error) {
      throw unavailable(error)
    }
  }
  // Expired leases and claims must be released before they are counted.
  const isSwept = (now: number) => claims.isSwept(now) && leases.isSwept(now)
  const count = <T>(work: () => T) => (isSwept(clock.now()) ? read(work) : write(work))
  const close = async () => {
    const last = write((transaction) => clock.saveFinal(transaction))
    await Promise.allSettled([last, group.drain()])
    database.close()
    unlock()
  }
  const checked = database.prepare("SELECT value FROM mesh_counters WHERE name = 'clock'")
  const replica = newReplica(clock.now())
  let closing: Promise<void> | undefined

  return {
    driver: 'sqlite',
    place: database.name,
    now: () => clock.now(),

    join: (scope, facts, options = {}) => write((transaction) => nodes.join(transaction, scope, facts, options)),
    heartbeat: (scope, heartbeat) =>
      group.run('heartbeats', (transaction) => nodes.heartbeat(transaction, scope, heartbeat)),
    leave: (scope, id) => write((transaction) => tables.leave(transaction, scope, id)),
    listNodes: (scope, query) => read((now) => tables.listNodes(scope, query, now)),
    countNodes: (scope) => read(() => tables.registry.count(scope)),
    setQuarantine: (scope, id, on, actor) =>
      write((transaction) => nodes.setQuarantine(transaction, scope, {id, on, actor})),
    setMaintenance: (scope, id, maintenance, actor) =>
      write((transaction) => nodes.setMaintenance(transaction, scope, {id, maintenance, actor})),

    grantLease: (scope, claim) => write((transaction) => leases.grant(transaction, scope, claim)),
    renewLease: (scope, held) => write((transaction) => leases.renew(transaction, scope, held)),
    releaseLease: (scope, held) => write((transaction) => leases.release(transaction, scope, held)),
    verifyLease: (scope, lease) => write((transaction) => leases.verify(transaction, scope, lease)),
    listLeases: (scope) => write((transaction) => leases.list(transaction, scope)),
    revokeLease: (scope, lease, actor) => write((transaction) => leases.revoke(transaction, scope, lease, actor)),

    deliver(scope, draft) {
      const digest = digestOf(draft)
      return write((transaction) => messages.deliver(transaction, scope, draft, digest))
    },
    peek: (scope, query) => read((now) => messages.peek(scope, query, now)),
    claim: (scope, query) => write((transaction) => claims.claim(transaction, scope, query)),
    renewClaim: (scope, claim) => write((transaction) => claims.renew(transaction, scope, claim)),
    ack: (scope, ack) => write((transaction) => claims.ack(transaction, scope, ack)),
    listDead: (scope, query) => read((now) => deadMessages.list(scope, query, now)),
    retryDead: (scope, ids, actor) => write((transaction) => deadMessages.retry(transaction, scope, {ids, actor})),
    dropDead: (scope, ids, actor) => write((transaction) => deadMessages.drop(transaction, scope, {ids, actor})),
    countPending: (scope, {receiver, limit}) => count(() => Math.min(limit, backlog.waiting(scope, receiver))),
    queueStats: (scope) =>
      count(() => {
        const oldest = backlog.oldest(scope)
        return {...backlog.stats(scope), ...(oldest === undefined ? {} : {oldest_pending_unix_ms: oldest})}
      }),
    putBlob: (scope, blob) => write((transaction) => blobs.put(transaction, scope, blob)),
    getBlob: (scope, sha256) => read((now) => blobs.get(scope, sha256, now)),
    counts: (scope) =>
      count(() => {
        const {pending_count: pending, dead_count: dead} = backlog.stats(scope)
        return {nodes: tables.registry.count(scope), leases: leases.count(scope), pending, dead}
      }),

    promote: () => Promise.reject(new SvcError('promotion_unsupported', {})),
    listAudit: (scope, query) => read(() => audit.list(scope, query)),

    useTokenId: (id, keepUntilMs) => write((transaction) => usedTokens.useTokenId(transaction, id, keepUntilMs)),
    useBootstrap: (scope, digest, use) =>
      write((transaction) => usedTokens.useBootstrap(transaction, scope, digest, use)),

    replicas: async () => [replica],
    purge: () =>
      write((transaction) =>
        [clock.isTrusted(transaction.now) && purge.run(transaction), journal.fold(transaction)].includes(true),
      ),
    check: () =>
      read(() => {
        requirePlace()
        checked.get()
      }),
    get depth() {
      return group.depth
    },
    close() {
      closing ??= close()
      return closing
    },
  }
}
