import {availableParallelism} from 'node:os'
import {SvcError} from '../errors/index.js'
import type {Ports} from '../lang/index.js'
import {startThread, type Thread} from '../process/index.js'
import type {ReadMessage, ReadQuestion, ReadThreadStart} from './read-worker.js'
import type {Answer} from './reply.js'

/** Maximum number of requests that wait for a thread. */
const maxWaiting = 512
const maxThreads = 4

const failure = (reason: string, cause?: unknown) => new SvcError('internal', {reason}, {cause})

interface Job {
  question: ReadQuestion
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/** Worker threads, each with its own connection, so that requests that read many rows do not block others. */
export class ReadThreads {
  readonly #start: ReadThreadStart
  readonly #log: Ports['log']
  readonly #waiting: Job[] = []
  readonly #idle: Thread<undefined>[] = []
  readonly #running = new Map<Thread<undefined>, Job>()
  #starting = 0
  #isClosed = false

  constructor(start: ReadThreadStart, log: Ports['log']) {
    this.#start = start
    this.#log = log
  }

  /** @throws overloaded; internal if the thread has exited */
  ask(question: ReadQuestion): Promise<Answer> {
    if (this.#waiting.length >= maxWaiting)
      throw new SvcError('overloaded', {reason: `The queue is full: ${maxWaiting} requests are waiting.`})
    return new Promise<Answer>((resolve, reject) => {
      this.#waiting.push({question, resolve, reject})
      this.#next()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const threads = [...this.#idle, ...this.#running.keys()]
    for (const {reject} of this.#waiting.splice(0)) reject(new SvcError('terminated', {}))
    await Promise.all(threads.map(({worker}) => worker.terminate()))
  }

  #next(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#idle.pop()
      if (thread === undefined) break
      const job = this.#waiting.shift() as Job
      this.#running.set(thread, job)
      thread.worker.ref()
      thread.worker.postMessage(job.question)
    }
    const threads = this.#running.size + this.#idle.length + this.#starting
    const limit = Math.min(maxThreads, Math.max(1, availableParallelism() - 1))
    if (this.#waiting.length > this.#starting && threads < limit && !this.#isClosed) void this.#add()
  }

  async #add(): Promise<void> {
    this.#starting++
    try {
      const program = new URL('./read-worker.js', import.meta.url)
      const thread = await startThread<undefined>(program, {data: this.#start, failure})
      this.#starting--
      if (this.#isClosed) {
        await thread.worker.terminate()
        return
      }
      this.#listen(thread)
      thread.worker.unref()
      this.#idle.push(thread)
      this.#next()
    } catch (error) {
      this.#starting--
      // Without a thread, the waiting requests would never be answered.
      if (this.#running.size + this.#idle.length + this.#starting === 0)
        for (const {reject} of this.#waiting.splice(0)) reject(error)
    }
  }

  #listen(thread: Thread<undefined>): void {
    const {worker} = thread
    worker.on('message', (message: ReadMessage) => {
      if (message.type === 'log') {
        this.#log(message.level, message.text)
        return
      }
      const job = this.#running.get(thread)
      if (message.type === 'failed') job?.reject(SvcError.fromRecord(message.error))
      else job?.resolve(message.answer)
      this.#running.delete(thread)
      worker.unref()
      this.#idle.push(thread)
      this.#next()
    })
    worker.on('error', (error) => this.#lose(thread, failure(error.message, error)))
    worker.once('exit', () => this.#lose(thread, failure('a read thread exited')))
  }

  #lose(thread: Thread<undefined>, error: unknown): void {
    this.#running.get(thread)?.reject(this.#isClosed ? new SvcError('terminated', {}) : error)
    this.#running.delete(thread)
    const at = this.#idle.indexOf(thread)
    if (at >= 0) this.#idle.splice(at, 1)
    if (!this.#isClosed) this.#next()
  }
}
