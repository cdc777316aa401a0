import {isRejected} from './fault.js'

interface Waiting<In, Out> {
  request: In
  resolve(answer: Out): void
  reject(error: unknown): void
}

/** Answer to one request of a batch, or the error that it fails with. */
export type Answer<Out> = {value: Out} | {error: Error}

export interface LaneOptions<In, Out> {
  /** Answers requests, in their order; undefined for one that must be sent again, alone. */
  run(requests: readonly In[]): Promise<(Answer<Out> | undefined)[]>
  /** Maximum number of requests per batch. */
  max: number
  /** Shared by lanes whose batches follow one another. */
  mutex?: Mutex
}

/** Lets one batch run at a time: fewer and larger batches need much less processor time, and are as fast. */
export class Mutex {
  #isHeld = false
  readonly #waiting: (() => void)[] = []

  async acquire(): Promise<void> {
    if (this.#isHeld) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#isHeld = true
  }

  release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#isHeld = false
    else setImmediate(next)
  }
}

/**
 * Merges requests of one kind: those that arrive while a batch is in flight form the next one. A request never waits for
 * others to arrive.
 */
export class Lane<In, Out> {
  readonly #options: LaneOptions<In, Out>
  readonly #mutex: Mutex
  #waiting: Waiting<In, Out>[] = []
  #isRunning = false

  constructor(options: LaneOptions<In, Out>) {
    this.#options = options
    this.#mutex = options.mutex ?? new Mutex()
  }

  /** Number of requests that are not part of a batch yet. */
  get depth(): number {
    return this.#waiting.length
  }

  /** Answers a request with one of the next batches. */
  add(request: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({request, resolve, reject})
      if (this.#isRunning) return
      this.#isRunning = true
      setImmediate(() => this.#serve())
    })
  }

  async #serve(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#mutex.acquire()
      await this.#answer(this.#waiting.splice(0, this.#options.max))
      this.#mutex.release()
      // Requests that have arrived meanwhile join the next batch.
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#isRunning = false
  }

  /** If the server rejects a batch, answers each request alone, so that only the cause fails. */
  async #answer(batch: readonly Waiting<In, Out>[]): Promise<void> {
    const again: Waiting<In, Out>[] = []
    try {
      const answers = await this.#options.run(batch.map(({request}) => request))
      for (const [i, each] of batch.entries()) {
        const answer = answers[i]
        if (answer === undefined) again.push(each)
        else if ('error' in answer) each.reject(answer.error)
        else each.resolve(answer.value)
      }
    } catch (error) {
      const {cause} = error as Error
      if (batch.length > 1 && isRejected(cause)) again.push(...batch)
      else for (const {reject} of batch) reject(error)
    }
    for (const each of again) await this.#answer([each])
  }
}

/** Order in which batches change rows, which must be the same in all processes. */
export const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b))

/** Columns of a table as arrays. */
export const transpose = (rows: readonly (readonly unknown[])[]): unknown[][] =>
  (rows[0] ?? []).map((_, column) => rows.map((row) => row[column]))

/** Result of a function, or the catalogue error that it throws. */
export function answerOf<T>(read: () => T): Answer<T> {
  try {
    return {value: read()}
  } catch (error) {
    return {error: error as Error}
  }
}
