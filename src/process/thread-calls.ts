import type {Transferable, Worker} from 'node:worker_threads'
import {type ErrorRecord, SvcError} from '../errors/index.js'
import {onAbort, orAborted} from './abort.js'
import type {Failure} from './start-thread.js'

/** Answer of a thread to the call with the same id. */
export type ThreadAnswer<A> = {id: number} & (A | {error: ErrorRecord})

export interface CallOptions {
  /** Ends the wait for the answer. */
  signal?: AbortSignal | undefined
  /** Cancels a call in the thread after its signal has aborted. */
  cancel?: ((id: number) => void) | undefined
  /** Moved to the thread instead of being copied. */
  transfer?: readonly Transferable[]
}

/** Calls to a thread that has started: any number at a time, each with an id that its answer repeats. */
export class ThreadCalls<Question extends object, Answer extends object> {
  readonly #worker: Worker
  readonly #waiting = new Map<number, {resolve(answer: Answer): void; reject(error: unknown): void}>()
  #last = 0
  #end: {error: unknown} | undefined

  /** @param name of the thread, in errors */
  constructor(worker: Worker, name: string, failure: Failure) {
    this.#worker = worker
    worker.on('message', (answer: ThreadAnswer<Answer>) => this.#settle(answer))
    worker.on('error', (error) => this.end(failure(error.message, error)))
    worker.once('exit', () => this.end(failure(`${name} stopped`)))
  }

  get count(): number {
    return this.#waiting.size
  }

  /** @throws the error that the thread answers; the failure of the thread; the reason of the signal */
  async ask(question: Question, {signal, cancel, transfer = []}: CallOptions = {}): Promise<Answer> {
    signal?.throwIfAborted()
    if (this.#end !== undefined) throw this.#end.error
    const id = ++this.#last
    const answer = new Promise<Answer>((resolve, reject) => this.#waiting.set(id, {resolve, reject}))
    this.#worker.postMessage({...question, id}, transfer)
    const stopListening = onAbort(signal, () => cancel?.(id))
    try {
      return await orAborted(answer, signal)
    } finally {
      stopListening()
      this.#waiting.delete(id)
    }
  }

  /** Ends all calls, and those to come, with an error. */
  end(error: unknown): void {
    this.#end ??= {error}
    for (const {reject} of this.#waiting.values()) reject(this.#end.error)
  }

  #settle(answer: ThreadAnswer<Answer>): void {
    const call = this.#waiting.get(answer.id)
    if ('error' in answer) call?.reject(SvcError.fromRecord(answer.error))
    else call?.resolve(answer)
  }
}
