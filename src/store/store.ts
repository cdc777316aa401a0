import {constants, existsSync, statSync} from 'node:fs'
import {access, mkdir, open, readlink, realpath} from 'node:fs/promises'
import {dirname, resolve} from 'node:path'
import {setTimeout} from 'node:timers/promises'
import type {Database, Statement} from 'better-sqlite3'
import {isErrorOf, SvcError} from '../errors/index.js'
import {loadDriver} from './driver.js'
import {applyFragments, type Fragment} from './fragment.js'
import {emitCommit} from './watch.js'

export interface StoreOptions {
  /**
   * `normal`: commits survive a crash of the process but not a power failure. `full`: they survive both, but each one
   * costs a disk flush.
   */
  durability?: 'normal' | 'full'
  /** Timeout of the wait for the lock of another process, ms. */
  busyTimeoutMs?: number
}

/** Value of a SQLite column. */
export type SqlValue = string | number | bigint | Buffer | null
export type SqlParams = readonly SqlValue[] | Readonly<Record<string, SqlValue>>

export interface Store {
  readonly path: string
  /** Returns all rows; the caller specifies their type. */
  all<Row>(sql: string, params?: SqlParams): Row[]
  get<Row>(sql: string, params?: SqlParams): Row | undefined
  /** Iterates over rows, for results that are too large for memory. */
  iterate<Row>(sql: string, params?: SqlParams): IterableIterator<Row>
  /** Runs a statement that returns no rows. @throws store_moved */
  run(sql: string, params?: SqlParams): {changes: number; lastInsertRowid: number | bigint}
  /**
   * Runs work in a transaction that acquires the write lock immediately. An exception rolls it back. Nested
   * transactions are savepoints.
   * @throws store_moved
   */
  transaction<T>(work: () => T): T
  close(): void
}

/**
 * Opens a database file in WAL mode and upgrades its fragments. Creates a missing file and folder, readable only by the
 * owner.
 * @throws store_engine_missing, store_node_unsupported, store_unopenable, store_unwritable, store_damaged, store_busy,
 *   store_newer
 */
export async function openStore(
  path: string,
  fragments: readonly Fragment[],
  options: StoreOptions = {},
): Promise<Store> {
  const database = await openDatabase(path, options)
  try {
    applyFragments(database, path, fragments)
    return asStore(database, path)
  } catch (error) {
    database.close()
    throw storeError(error, path)
  }
}

export interface DatabaseOptions extends StoreOptions {
  /** Refuse writes; the file must exist. */
  readonly?: boolean
}

/**
 * Opens a database file for direct use of the driver. While it is open, SQLite holds a shared lock on the file, which
 * the system releases if the process dies. Meanwhile, no other process can open it alone, so none can replace it.
 * @throws store_engine_missing, store_node_unsupported, store_unopenable, store_unwritable, store_damaged, store_busy
 */
export async function openDatabase(path: string, options: DatabaseOptions = {}): Promise<Database> {
  const {durability = 'normal', busyTimeoutMs = 5000, readonly = false} = options
  const Driver = await loadDriver()
  for (;;)
    try {
      if (path !== ':memory:' && !readonly) await createFile(path)
      const opened = inodeOf(path)
      const database = new Driver(path, {timeout: busyTimeoutMs, readonly})
      try {
        if (!readonly) await enterWalMode(database, busyTimeoutMs)
        database.pragma(`synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`)
        database.pragma('foreign_keys = ON')
        // The first access acquires the lock.
        database.pragma('schema_version')
      } catch (error) {
        database.close()
        // While this process waited for the lock, another one replaced the file.
        if (inodeOf(path) !== opened) continue
        // The file itself could be opened, so the error concerns the additional files that a writer needs.
        throw storeError(error, path, readonly)
      }
      // Another process may have replaced the file before the lock was acquired.
      if (inodeOf(path) === opened) return database
      database.close()
    } catch (error) {
      throw storeError(error, path, true)
    }
}

/**
 * Returns a check that the path of an open database still leads to the same file. What is written to a file that was
 * removed, or that another one has replaced, would be lost.
 * @returns throws store_moved
 */
export function placeCheck(path: string): () => void {
  const opened = path === '' || path === ':memory:' ? undefined : inodeOf(path)
  return () => {
    if (opened !== undefined && inodeOf(path) !== opened) throw new SvcError('store_moved', {path})
  }
}

/** What distinguishes an existing file from its copies; empty for a database in memory. A renamed file keeps it. */
export const fileIdOf = (path: string): string => String(inodeOf(path) ?? '')

const inodeOf = (path: string): bigint | undefined => statSync(path, {bigint: true, throwIfNoEntry: false})?.ino

/** Timeout of the wait for commands that use a database briefly, ms. */
const briefUseMs = 500
/** Time between two attempts, in which signals are handled, ms. */
const pauseMs = 200

/**
 * Opens an existing database file that no other connection has open, and refuses others until it is closed. Use it to
 * replace the file, or to change what other processes rely on.
 * @param wait waits, until it aborts, while others use the file; without it, others are refused after half a second
 * @throws database_in_use, the reason of the signal, and like `openDatabase`
 */
export async function openAlone(path: string, wait?: AbortSignal): Promise<Database> {
  const Driver = await loadDriver()
  for (;;) {
    wait?.throwIfAborted()
    const opened = inodeOf(path)
    const database = new Driver(path, {timeout: briefUseMs, fileMustExist: true})
    try {
      database.pragma('locking_mode = EXCLUSIVE')
      database.exec('BEGIN EXCLUSIVE; COMMIT')
      database.pragma('foreign_keys = ON')
      if (inodeOf(path) === opened) return database
      database.close()
    } catch (error) {
      database.close()
      if (!isLocked(error)) {
        if (existsSync(path) && inodeOf(path) !== opened) continue
        throw storeError(error, path)
      }
      if (wait === undefined) throw await inUse(path, error)
      await setTimeout(pauseMs, undefined, {signal: wait}).catch(() => wait.throwIfAborted())
    }
  }
}

async function inUse(path: string, cause: unknown): Promise<SvcError> {
  const {usersText} = await import('../process/index.js')
  return new SvcError('database_in_use', {path, user: (await usersText(path)) || 'another process'}, {cause})
}

/**
 * Processes that switch the same new file to WAL mode at once each hold a shared lock and want an exclusive one. SQLite
 * then fails without waiting, whatever its busy timeout, because a wait could never end. The loser must release its
 * lock, which the end of the failed statement does, and try again.
 */
async function enterWalMode(database: Database, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    try {
      database.pragma('journal_mode = WAL')
      return
    } catch (error) {
      if (!isLocked(error) || performance.now() >= deadline) throw error
    }
    await setTimeout(1 + Math.random() * 10)
  }
}

/**
 * Creates a missing file that only its owner can read. SQLite uses the same mode for its additional files. Does not open
 * an existing file: to close it would release the locks of all connections that this process has to it (POSIX).
 * @throws store_unwritable if the disk is full or the existing file is read-only
 */
export async function createFile(path: string): Promise<void> {
  try {
    await mkdir(dirname(path), {recursive: true, mode: 0o700})
    if (!(await createEmpty(path))) await access(path, constants.W_OK).catch((error) => createTarget(path, error))
  } catch (error) {
    const {code = '', message} = error as NodeJS.ErrnoException
    if (fullDisk.has(code) || (readOnly.has(code) && (await isReadable(path))))
      throw new SvcError('store_unwritable', {path, reason: message}, {cause: error})
    throw error
  }
}

/** Returns false if the path exists. */
async function createEmpty(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Creates the missing file to which a symbolic link leads. @throws the given error if it has another cause */
async function createTarget(path: string, error: NodeJS.ErrnoException): Promise<void> {
  const target = error.code === 'ENOENT' ? await readlink(path).catch(() => undefined) : undefined
  if (target === undefined) throw error
  await createFile(resolve(await realpath(dirname(path)), target))
}

const fullDisk: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT'])
const readOnly: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS'])

const isReadable = (path: string): Promise<boolean> =>
  access(path, constants.R_OK).then(
    () => true,
    () => false,
  )

/** Maximum number of cached statements, because SQL may be generated at run time. */
const maxStatements = 512

function asStore(database: Database, path: string): Store {
  const statements = new Map<string, Statement<unknown[], unknown>>()
  const requirePlace = placeCheck(path)
  const prepare = (sql: string) => {
    let statement = statements.get(sql)
    if (statement === undefined) {
      statement = database.prepare(sql)
      const [oldest] = statements.keys()
      if (statements.size >= maxStatements && oldest !== undefined) statements.delete(oldest)
      statements.set(sql, statement)
    }
    return statement
  }
  const guarded = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw storeError(error, path)
    }
  }
  // Created once: the driver prepares a wrapper for each function.
  const inTransaction = database.transaction((work: () => unknown) => work())
  const store: Store = {
    path,
    all: <Row>(sql: string, params: SqlParams = []) => guarded(() => prepare(sql).all(params) as Row[]),
    get: <Row>(sql: string, params: SqlParams = []) => guarded(() => prepare(sql).get(params) as Row | undefined),
    *iterate<Row>(sql: string, params: SqlParams = []) {
      try {
        // Not cached: a statement cannot run again while it is being iterated.
        yield* database.prepare(sql).iterate(params) as IterableIterator<Row>
      } catch (error) {
        throw storeError(error, path)
      }
    },
    run(sql, params = []) {
      if (!database.inTransaction) requirePlace()
      return guarded(() => prepare(sql).run(params))
    },
    transaction(work) {
      if (!database.inTransaction) requirePlace()
      const result = guarded(() => inTransaction.immediate(work)) as ReturnType<typeof work>
      if (!database.inTransaction) emitCommit(path, store)
      return result
    },
    close: () => database.close(),
  }
  return store
}

/** True for an error that the same write may not meet later: the file is locked, or its disk is full. */
export const isTransient = (error: unknown): boolean =>
  isErrorOf(error, 'store_busy') || isErrorOf(error, 'store_unwritable')

const isLocked = (error: unknown) =>
  error instanceof Error && /^SQLITE_(BUSY|LOCKED)/.test((error as NodeJS.ErrnoException).code ?? '')

/**
 * Converts SQLite errors to catalogue errors; returns other errors unchanged.
 * @param opening true while the file is being opened: unknown errors are then reported as `store_unopenable`
 */
export function storeError(error: unknown, path: string, opening = false): unknown {
  if (error instanceof SvcError) return error
  if (!(error instanceof Error)) return error
  const {code = '', message} = error as NodeJS.ErrnoException
  if (isLocked(error)) return new SvcError('store_busy', {path}, {cause: error})
  if (/^SQLITE_(CORRUPT|NOTADB|IOERR_(SHORT_)?READ)/.test(code))
    return new SvcError('store_damaged', {path, reason: message}, {cause: error})
  if (/^SQLITE_(FULL|IOERR)/.test(code) || (!opening && /^SQLITE_(READONLY|CANTOPEN)/.test(code)))
    return new SvcError('store_unwritable', {path, reason: message}, {cause: error})
  if (opening && (code === 'ERR_DLOPEN_FAILED' || message.startsWith('Could not locate the bindings file')))
    return new SvcError('store_engine_missing', {reason: message.split('\n')[0] ?? ''}, {cause: error})
  return opening ? new SvcError('store_unopenable', {path, reason: message}, {cause: error}) : error
}
