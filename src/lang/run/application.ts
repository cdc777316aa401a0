import {setTimeout as sleep} from 'node:timers/promises'
import type {Database} from 'better-sqlite3'
import {SvcError} from '../../errors/index.js'
import {openDatabase, placeCheck} from '../../store/index.js'
import {type FunctionType, kindOf, type Program, reachable, type Type, waits} from '../check/index.js'
import {ddl} from '../emit/index.js'
import {changeLogTable, topicsOf} from './change-log.js'
import {Compiler} from './compile.js'
import {Connection} from './connection.js'
import {Context, defaultLimits, Journal, type Limits, type Ports, type RequestFacts, Waiting} from './context.js'
import {DatabaseFailure, Failure} from './failure.js'
import type {Handler} from './frame.js'
import {defineFunctions} from './functions.js'
import {Lock} from './lock.js'
import {MutationQueue} from './mutation-queue.js'
import {ReadCost} from './read-cost.js'
import {Readers} from './readers.js'
import {Err, Ok, toJson, type Value} from './value.js'
import {loadVectors, needsVectors} from './vectors.js'

type Fits = (program: Program, database: Database) => boolean

export interface ApplicationOptions {
  /** A file with the tables of the program, or `:memory:`, in which they are created. */
  path: string
  ports?: Partial<Ports>
  limits?: Partial<Limits>
  /**
   * Called when another process has changed the schema: whether the program can still use the database. By default, it
   * cannot.
   */
  fits?: Fits
}

/** The result of a handler. */
export interface Reply {
  /** A `Result` that is an `Error` is a `domain` reply. */
  kind: 'value' | 'domain'
  value: Value
  /** The retrieval mode, if the handler used `matches` or `near`. */
  retrieval: string | undefined
}

/** Time that SQLite blocks while waiting for the lock of another process, ms. */
const busyTimeoutMs = 1000
/** The same per operation of a handler without a transaction, which blocks the other handlers, ms. */
const operationTimeoutMs = 100
/** Retries of a writer: total time, first and maximum delay, ms. */
const timeoutMs = 5000
const firstRetryMs = 1
const lastRetryMs = 20

/** Runs the endpoints of a program on its database, each in the transaction that its kind requires. */
export class Application {
  readonly program: Program
  readonly path: string
  readonly writer: Connection
  readonly readers: Readers
  readonly topics: ReadonlyMap<string, readonly string[]>
  /** Called after each commit. */
  onCommit: () => void = () => undefined
  readonly #compiler: Compiler
  readonly #ports: Ports
  readonly #limits: Limits
  readonly #lock = new Lock()
  readonly #mutations: MutationQueue<Run, Reply>
  readonly #facts = new Map<FunctionType, Facts>()
  readonly #readCost: ReadCost
  readonly #fits: Fits
  /** The schema for which `fits` holds, as SQLite counts its changes. */
  #schema = 0

  private constructor(program: Program, writer: Connection, {path, ports, limits, fits}: ApplicationOptions) {
    this.program = program
    this.path = path
    this.writer = writer
    this.readers = new Readers({
      open: () => connect(program, path, true),
      check: (reader) => this.#checkSchema(reader),
    })
    this.topics = topicsOf(program)
    this.#compiler = new Compiler(this.topics)
    this.#ports = {log: () => undefined, env: {}, ...ports}
    this.#limits = {...defaultLimits, ...limits}
    this.#readCost = new ReadCost(writer)
    this.#fits = fits ?? (() => false)
    this.#mutations = new MutationQueue({
      connection: writer,
      begin: async () => {
        await this.#beginWriting()
        this.#checkSchema(writer)
      },
      // The time limit is that of the mutation, not of those before it.
      run: (run) => this.#run({...run, started: performance.now()}, writer),
      kindOf: ({handler}) => handler,
      isRefused: ({kind}) => kind === 'domain',
      exclusively: (work) => this.#locked(work),
      onCommit: () => this.#committed(),
    })
  }

  /** @throws store_*, vector_engine_missing */
  static async open(program: Program, options: ApplicationOptions): Promise<Application> {
    const writer = await connect(program, options.path)
    const application = new Application(program, writer, options)
    // An in-memory database starts without tables.
    if (options.path === ':memory:') for (const sql of ddl(program)) writer.database.exec(sql)
    if (application.topics.size > 0) writer.database.exec(changeLogTable)
    application.#schema = writer.schemaVersion()
    // From here on, retry without blocking, so that other calls proceed.
    writer.database.pragma('busy_timeout = 0')
    return application
  }

  /**
   * Runs a function of the program; arguments in parameter order, undefined if omitted. Returns the reply synchronously
   * unless it has to wait for a commit, a transcription, another handler or another process.
   * @throws Failure; schema_changed
   */
  call(target: FunctionType, args: readonly Value[], request?: RequestFacts): Reply | Promise<Reply> {
    const facts = this.#factsOf(target)
    const {handler, kind} = facts
    const started = performance.now()
    const run: Run = {handler, args, request, journal: facts.waits ? new Journal() : undefined, started, facts}
    switch (kind) {
      case 'query':
        return this.#callQuery(run)
      case 'mutation':
        return facts.waits ? this.#locked(() => this.#mutate(run)) : this.#mutations.add(run)
      default: {
        const isAtOnce = !facts.waits && !this.#lock.held && (!facts.writes || this.#isUnlocked())
        return isAtOnce ? this.#freeAtOnce(run) : this.#free(run, facts.writes)
      }
    }
  }

  /**
   * Whether a call only reads, waits for nothing, and may take so long that it should run in another thread, by a
   * separate application.
   */
  readsMuch(target: FunctionType): boolean {
    const {kind, waits: isWaiting, writes} = this.#factsOf(target)
    if (kind === 'mutation' || isWaiting || writes || this.path === ':memory:') return false
    return this.#readCost.isHigh(target)
  }

  #callQuery(run: Run): Reply | Promise<Reply> {
    if (this.path === ':memory:') return this.#locked(() => this.#query(run, this.writer))
    const reader = run.journal === undefined ? this.readers.snapshot(run.started) : undefined
    return reader === undefined ? this.readers.use((free) => this.#query(run, free)) : this.#run(run, reader)
  }

  #committed(): void {
    this.readers.endSnapshot()
    this.onCommit()
  }

  #freeAtOnce(run: Run): Reply {
    try {
      return this.writer.withBusyTimeout(operationTimeoutMs, () => this.#once(run, this.writer))
    } finally {
      this.#committed()
    }
  }

  close(): void {
    this.readers.close()
    this.writer.close()
  }

  #factsOf(target: FunctionType) {
    let facts = this.#facts.get(target)
    if (facts === undefined) {
      facts = {
        handler: this.#compiler.handler(target),
        waits: waits(target),
        kind: kindOf(target),
        writes: [...reachable(target)].some(({effects}) => effects.some(({kind}) => kind === 'write')),
        isOption: target.result.kind === 'option',
        isTest: this.program.tests.includes(target),
        checksResult: kindOf(target) === 'mutation' && !isSendable(target.result),
      }
      this.#facts.set(target, facts)
    }
    return facts
  }

  async #locked<T>(run: () => Promise<T>): Promise<T> {
    await this.#lock.acquire()
    try {
      return await run()
    } finally {
      this.#lock.release()
    }
  }

  /** Runs in one snapshot, isolated from concurrent writes. */
  async #query(run: Run, connection: Connection): Promise<Reply> {
    connection.begin('deferred')
    try {
      return await this.#toEnd(run, connection)
    } finally {
      connection.rollback()
    }
  }

  /** Runs in one transaction: committed on success, rolled back on an Error or a failure. */
  async #mutate(run: Run): Promise<Reply> {
    await this.#beginWriting()
    try {
      const reply = await this.#toEnd(run, this.writer)
      if (reply.kind === 'domain') this.writer.rollback()
      else {
        this.writer.commit()
        this.#committed()
      }
      return reply
    } catch (error) {
      this.writer.rollback()
      throw error
    }
  }

  /** Retries while another process holds the lock, without blocking readers. */
  async #beginWriting(): Promise<void> {
    const until = performance.now() + timeoutMs
    for (let ms = firstRetryMs; !this.#tryBegin(performance.now() > until); ms = Math.min(2 * ms, lastRetryMs))
      await sleep(ms)
  }

  /** Whether no other process is writing now. */
  #isUnlocked(): boolean {
    if (!this.#tryBegin()) return false
    this.writer.rollback()
    return true
  }

  /** Whether the lock was acquired. `must`: throws if it was not. */
  #tryBegin(must = false): boolean {
    try {
      this.writer.begin('immediate')
      return true
    } catch (error) {
      if (must || !(error instanceof DatabaseFailure) || error.kind !== 'busy') throw error
      return false
    }
  }

  /** Runs without a transaction: each operation commits. Others may write during a transcription. */
  async #free(run: Run, writes: boolean): Promise<Reply> {
    for (;;) {
      await this.#lock.acquire()
      let waiting: Waiting
      try {
        if (writes) {
          await this.#beginWriting()
          this.writer.rollback()
        }
        return this.writer.withBusyTimeout(operationTimeoutMs, () => this.#once(run, this.writer))
      } catch (thrown) {
        if (!(thrown instanceof Waiting)) throw thrown
        waiting = thrown
      } finally {
        this.#lock.release()
        this.#committed()
      }
      await this.#answer(run, waiting)
    }
  }

  async #toEnd(run: Run, connection: Connection): Promise<Reply> {
    for (;;) {
      try {
        return this.#once(run, connection)
      } catch (thrown) {
        if (!(thrown instanceof Waiting)) throw thrown
        await this.#answer(run, thrown)
      }
    }
  }

  /**
   * The schema can change between two transactions, so it is checked in each, at the cost of reading one number.
   * @throws schema_changed
   */
  #checkSchema(connection: Connection): void {
    const version = connection.schemaVersion()
    if (version === this.#schema) return
    if (!this.#fits(this.program, connection.database)) throw new SvcError('schema_changed', {path: this.path})
    this.#schema = version
  }

  #once(run: Run, connection: Connection): Reply {
    this.#checkSchema(connection)
    return this.#run(run, connection)
  }

  #run({handler, args, request, journal, started, facts}: Run, connection: Connection): Reply {
    journal?.rewind()
    const deadline = started + this.#limits.timeoutMs
    const context = new Context(connection, {ports: this.#ports, request, journal, limits: this.#limits, deadline})
    context.isTest = facts.isTest
    if (journal !== undefined) context.checkTime()
    try {
      const value = handler(context, args)
      // A result that cannot be sent fails before it is committed.
      if (facts.checksResult) toJson(value)
      if (facts.isOption) return {kind: 'value', value, retrieval: context.retrieval}
      if (value instanceof Err) return {kind: 'domain', value: value.value, retrieval: context.retrieval}
      return {kind: 'value', value: value instanceof Ok ? value.value : value, retrieval: context.retrieval}
    } catch (thrown) {
      // Outside a transaction, the schema can change after the check.
      if (thrown instanceof DatabaseFailure && thrown.kind === 'other') this.#checkSchema(connection)
      // Deeply nested bodies exhaust the JavaScript stack before the limit on calls.
      if (thrown instanceof RangeError && /call stack/.test(thrown.message))
        throw new Failure('STACK_LIMIT', 'calls are nested too deeply', {cause: thrown})
      throw thrown
    }
  }

  async #answer({journal}: Run, {work}: Waiting): Promise<void> {
    try {
      journal?.record({value: await work()})
    } catch (failure) {
      journal?.record({failure})
    }
  }
}

/** Static properties of a function. */
interface Facts {
  handler: Handler
  kind: ReturnType<typeof kindOf>
  waits: boolean
  writes: boolean
  /** A Result in an Option is a value like any other. */
  isOption: boolean
  isTest: boolean
  /** For a mutation: whether the result can hold a number that cannot be sent. */
  checksResult: boolean
}

const finite: ReadonlySet<Type['kind']> = new Set([
  'int',
  'id',
  'bool',
  'str',
  'dec',
  'bytes',
  'unit',
  'date',
  'datetime',
  'duration',
])

/** Whether every value of a type can be sent. */
const isSendable = (type: Type): boolean => finite.has(type.kind) || (type.kind === 'result' && isSendable(type.ok))

interface Run {
  handler: Handler
  args: readonly Value[]
  request: RequestFacts | undefined
  journal: Journal | undefined
  /** When the call began, for its time limit. */
  started: number
  facts: Facts
}

/** Opens a database for a program, with the required extensions. */
export async function connect(program: Program, path: string, readonly = false): Promise<Connection> {
  const database = await openDatabase(path, {busyTimeoutMs, readonly})
  try {
    if (needsVectors(program)) await loadVectors(database)
    defineFunctions(database)
    return new Connection(database, placeCheck(path))
  } catch (error) {
    database.close()
    throw error
  }
}
