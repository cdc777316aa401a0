import type {Database} from 'better-sqlite3'
import {applyFragments, openDatabase, storeError} from '../../../store/index.js'
import type {MeshStore, Scope, StoreLimits} from '../mesh-store.js'
import {createAudit} from './audit.js'
import {loadBacklog} from './backlog.js'
import {openBeatJournal} from './beat-journal.js'
import {createClaims} from './claims.js'
import type {ClockSources} from './clock.js'
import {createCounters} from './counters.js'
import {openCredentials} from './credentials.js'
import {createDeadMessages} from './dead-messages.js'
import {unavailable} from './fault.js'
import {createGroupCommit, type Turn} from './group-commit.js'
import {holdFile} from './hold-file.js'
import {openClock} from './kept-clock.js'
import {createLeases} from './leases.js'
import {createMessages, digestOf} from './messages.js'
import {createNodeList} from './node-list.js'
import {loadNodes} from './node-registry.js'
import {createNodeRows} from './node-rows.js'
import {createNodes} from './nodes.js'
import {createPurge} from './purge.js'
import {meshStoreFragment} from './schema.js'

export interface SqliteMeshStoreOptions {
  /** Unix ms as the machine has it, and ms that have passed; another for each in tests. */
  wallClock?: () => number
  monotonic?: () => number
  /** How long a lock of another program is waited for, ms. */
  lockPatienceMs?: number
}

/** Pages that are kept in memory, KiB: as many as are used, up to this. */
const cacheKiB = 131_072

/**
 * The store of a control plane in one SQLite file. The file is this process's alone as long as it is open; whoever only
 * reads may read it.
 * @throws store_busy where another control plane has it; store_unopenable, store_unwritable, store_damaged, store_newer
 */
export async function openSqliteMeshStore(
  path: string,
  limits: StoreLimits,
  {wallClock = Date.now, monotonic = () => performance.now(), lockPatienceMs = 5000}: SqliteMeshStoreOptions = {},
): Promise<MeshStore> {
  const letGo = await holdFile(path)
  try {
    const database = await openDatabase(path, {durability: 'full', busyTimeoutMs: 1000})
    try {
      applyFragments(database, path, [meshStoreFragment])
      return assemble(database, {limits, sources: {wallClock, monotonic}, lockPatienceMs, letGo})
    } catch (error) {
      database.close()
      throw storeError(error, path)
    }
  } catch (error) {
    letGo()
    throw error
  }
}

interface Assembly {
  limits: StoreLimits
  sources: ClockSources
  lockPatienceMs: number
  letGo: () => void
}

function assemble(database: Database, {limits, sources, lockPatienceMs, letGo}: Assembly): MeshStore {
  database.pragma(`cache_size = -${cacheKiB}`)
  const {leaseMs} = limits
  const clock = openClock(database, sources)
  // From here on nothing waits for a lock but with a timer.
  database.pragma('busy_timeout = 0')
  const counters = createCounters(database)
  const audit = createAudit(database)
  const registry = loadNodes(database)
  const journal = openBeatJournal(database, registry)
  const rows = createNodeRows(database, {nodes: registry, journal, counters})
  const nodes = createNodes(registry, rows, audit)
  const listNodes = createNodeList(database, registry)
  const leases = createLeases(database, {nodes, audit, counters, leaseMs})
  const backlog = loadBacklog(database)
  const messages = createMessages(database, {backlog, counters, limits})
  const claims = createClaims(database, {nodes, audit, backlog, leaseMs})
  const deadMessages = createDeadMessages(database, {audit, backlog, claims, messages})
  const credentials = openCredentials(database, audit)
  const leave = (turn: Turn, scope: Scope, id: string) => {
    nodes.leave(turn, scope, id)
    leases.releaseOf(turn, scope, id)
    claims.giveBackOf(turn, scope, id)
  }
  const purge = createPurge(database, {
    backlog,
    credentials,
    nodes: registry,
    leave: (turn, {scope, id}) => leave(turn, scope, id),
  })

  const group = createGroupCommit({
    database,
    now: clock.begin,
    monotonic: sources.monotonic,
    lockPatienceMs,
    begin(turn, lane) {
      clock.keep(turn)
      if (lane === 'beats') return
      leases.sweep(turn)
      claims.sweep(turn)
    },
    end(turn) {
      journal.flush(turn)
      counters.flush()
    },
  })
  const write = <T>(work: (turn: Turn) => T) => group.run('durable', work)
  const read = async <T>(work: (now: number) => T): Promise<T> => {
    try {
      return work(clock.now())
    } catch (error) {
      throw unavailable(error)
    }
  }
  /** What has run out is given back before it is counted. */
  const isSwept = (now: number) => claims.isSwept(now) && leases.isSwept(now)
  const count = <T>(work: () => T) => (isSwept(clock.now()) ? read(work) : write(work))
  let closing: Promise<void> | undefined

  return {
    driver: 'sqlite',
    now: clock.now,

    join: (scope, facts, options = {}) => write((turn) => nodes.join(turn, scope, facts, options)),
    heartbeat: (scope, beat) => group.run('beats', (turn) => nodes.heartbeat(turn, scope, beat)),
    leave: (scope, id) => write((turn) => leave(turn, scope, id)),
    listNodes: (scope, query) => read((now) => listNodes(scope, query, now)),
    setQuarantine: (scope, id, on, actor) => write((turn) => nodes.setQuarantine(turn, scope, {id, on, actor})),
    setMaintenance: (scope, id, maintenance, actor) =>
      write((turn) => nodes.setMaintenance(turn, scope, {id, maintenance, actor})),

    grantLease: (scope, claim) => write((turn) => leases.grant(turn, scope, claim)),
    renewLease: (scope, held) => write((turn) => leases.renew(turn, scope, held)),
    releaseLease: (scope, held) => write((turn) => leases.release(turn, scope, held)),
    verifyLease: (scope, lease) => write((turn) => leases.verify(turn, scope, lease)),
    listLeases: (scope) => write((turn) => leases.list(turn, scope)),
    revokeLease: (scope, lease, actor) => write((turn) => leases.revoke(turn, scope, lease, actor)),

    deliver(scope, draft) {
      const digest = digestOf(draft)
      return write((turn) => messages.deliver(turn, scope, draft, digest))
    },
    peek: (scope, query) => read((now) => messages.peek(scope, query, now)),
    claim: (scope, query) => write((turn) => claims.claim(turn, scope, query)),
    renewClaim: (scope, claim) => write((turn) => claims.renew(turn, scope, claim)),
    ack: (scope, ack) => write((turn) => claims.ack(turn, scope, ack)),
    listDead: (scope, query) => read((now) => deadMessages.list(scope, query, now)),
    retryDead: (scope, ids, actor) => write((turn) => deadMessages.retry(turn, scope, {ids, actor})),
    dropDead: (scope, ids, actor) => write((turn) => deadMessages.drop(turn, scope, {ids, actor})),
    countPending: (scope, {receiver, limit}) => count(() => Math.min(limit, backlog.waiting(scope, receiver))),
    queueStats: (scope) => count(() => backlog.stats(scope)),
    counts: (scope) =>
      count(() => {
        const {pending_count: pending, dead_count: dead} = backlog.stats(scope)
        return {nodes: registry.count(scope), leases: leases.count(scope), pending, dead}
      }),

    listAudit: (scope, query) => read(() => audit.list(scope, query)),

    useTokenId: (id, keepUntilMs) => write((turn) => credentials.useTokenId(turn, id, keepUntilMs)),
    useBootstrap: (scope, digest, use) => write((turn) => credentials.useBootstrap(turn, scope, digest, use)),

    purge: () => write((turn) => [clock.isTried(turn.now) && purge(turn), journal.fold(turn)].includes(true)),
    get depth() {
      return group.depth
    },
    close() {
      closing ??= closeDown()
      return closing
    },
  }

  async function closeDown(): Promise<void> {
    const last = group.run('durable', (turn) => clock.keepLast(turn))
    await Promise.allSettled([last, group.drain()])
    database.close()
    letGo()
  }
}
