import type {Bound} from './bind.js'
import type {Connection} from './connection.js'
import {Failure} from './failure.js'
import type {Value} from './value.js'

/** External services of a program. */
export interface Ports {
  /** Speech to text; the error is a message. Absent if no engine is available. */
  transcribe?: ((path: string) => Promise<Transcription>) | undefined
  /** Receives the output of `print` and `log.*`. */
  log(level: 'debug' | 'info' | 'warn' | 'error', text: string): void
  env: Readonly<Record<string, string | undefined>>
}

export type Transcription = {ok: string} | {error: string}

/** The HTTP request that an `http` route handles. */
export interface RequestFacts {
  text: string
  query: Readonly<Record<string, string | undefined>>
  params: Readonly<Record<string, string | undefined>>
  headers: Readonly<Record<string, string | string[] | undefined>>
}

export interface Limits {
  steps: number
  depth: number
  timeoutMs: number
}

export const defaultLimits: Limits = {steps: 1_000_000, depth: 256, timeoutMs: 30_000}

const itemsPerStep = 64

/** Thrown to wait for an external result; the handler is then re-run and replays its journal. */
export class Waiting {
  /** Starts the work whose result is awaited. */
  readonly work: () => Promise<Value>
  constructor(work: () => Promise<Value>) {
    this.work = work
  }
}

type Entry = {value: Value} | {failure: unknown}

/** The side effects of a suspended handler. When re-run, it gets the recorded results and repeats nothing. */
export class Journal {
  readonly #entries: Entry[] = []
  #at = 0

  rewind(): void {
    this.#at = 0
  }

  /** The entry that an earlier run recorded at this point. */
  next(): Entry | undefined {
    return this.#entries[this.#at++]
  }

  record(entry: Entry): void {
    this.#entries.push(entry)
    this.#at = this.#entries.length
  }
}

/** One run of a handler: its database connection, its request, its limits. */
export class Context {
  readonly connection: Connection
  readonly ports: Ports
  readonly request: RequestFacts | undefined
  /** How rows were found, where `matches` or `near` asked for it. */
  retrieval: string | undefined
  /** True in a test, outside the mutations that it calls. */
  isTest = false
  readonly #journal: Journal | undefined
  readonly #limits: Limits
  readonly #deadline: number
  #steps = 0
  #depth = 0

  constructor(
    connection: Connection,
    options: {
      ports: Ports
      request?: RequestFacts | undefined
      journal?: Journal | undefined
      limits: Limits
      deadline: number
    },
  ) {
    this.connection = connection
    this.ports = options.ports
    this.request = options.request
    this.#journal = options.journal
    this.#limits = options.limits
    this.#deadline = options.deadline
  }

  /** Counts a call or a loop iteration. */
  step(): void {
    const steps = ++this.#steps
    if (steps > this.#limits.steps) throw new Failure('STEP_LIMIT', `more than ${this.#limits.steps} evaluation steps`)
    if ((steps & 255) === 0) this.checkTime()
  }

  /** Counts the copied or compared items of a method: many of them take as long as one step. */
  items(count: number): void {
    if (count < itemsPerStep) return
    this.#steps += Math.trunc(count / itemsPerStep)
    this.step()
    this.checkTime()
  }

  checkTime(): void {
    if (performance.now() > this.#deadline)
      throw new Failure('TIMEOUT', `the handler ran for more than ${this.#limits.timeoutMs / 1000} s`)
  }

  enter(): void {
    if (++this.#depth > this.#limits.depth)
      throw new Failure('STACK_LIMIT', `calls are nested more than ${this.#limits.depth} levels deep`)
    this.step()
  }

  leave(): void {
    this.#depth--
  }

  /** Performs a side effect once, even if the handler is re-run. */
  once<T>(act: () => T): T {
    const journal = this.#journal
    if (journal === undefined) return act()
    const known = journal.next()
    if (known !== undefined) {
      if ('failure' in known) throw known.failure
      return known.value as T
    }
    try {
      const value = act()
      journal.record({value})
      return value
    } catch (failure) {
      journal.record({failure})
      throw failure
    }
  }

  /** Returns the result of work outside the interpreter, or throws `Waiting` until it is available. */
  await<T>(work: () => Promise<T>): T {
    const known = this.#journal?.next()
    if (known === undefined) throw new Waiting(work)
    if ('failure' in known) throw known.failure
    return known.value as T
  }
}

/** Runs the statement of a plan with its bound parameters. */
export type Run = (values: readonly Bound[], context: Context) => Value
