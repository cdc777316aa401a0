import {SvcError} from '../errors/index.js'
import type {EngineCounters} from './counters.js'
import type {Decoder} from './decoder.js'
import {Generation, type GenerationModel} from './generation.js'
import type {KvCache} from './kv-cache.js'
import type {GenerateEvent, TokenRequest} from './request.js'

export interface SchedulerOptions {
  /** Requests that are computed at once. */
  slots: number
  /** Requests that may wait for a slot. */
  queueLimit: number
}

/** Where the events of a request go. `fail` is told of faults; an aborted request is told nothing more. */
export interface Listener {
  event(event: GenerateEvent): void
  fail(error: unknown): void
}

interface Job {
  generation: Generation
  adapted: boolean
  listener: Listener
  signal: AbortSignal
  /** Tokens of the prompt that are in the cache. */
  filled: number
  promptTokens: number
}

const isReading = ({filled, promptTokens}: Job) => filled < promptTokens

/** Longest that a running stream shall wait for another request's prompt, ms. */
const longestPauseMs = 150
const smallestChunk = 4
const firstChunk = 16
const largestChunk = 512
/** Most logits of one run that scores a prompt: 64 MiB of them. */
const mostScored = 2 ** 24

/**
 * Shares one decoder among many requests. Each turn admits what waits, runs one chunk of one prompt, and one batched
 * step of every request that generates; the graph takes no prompt chunks and steps in one run. Chunks are sized from
 * the measured speed, so that streams go on while a long prompt is read.
 */
export class Scheduler {
  readonly #decoder: Decoder
  readonly #model: GenerationModel
  readonly #options: SchedulerOptions
  readonly #counters: EngineCounters
  readonly #cache: KvCache
  readonly #waiting: Job[] = []
  /**
   * By slot. Those whose prompt is read come first, since a batched run takes neighbouring slots; the rest follow in the
   * order in which they came.
   */
  readonly #running: Job[] = []
  #turning: Promise<void> | undefined
  /** Tokens of a prompt that can be read while others wait, found by trying. */
  #chunk = firstChunk

  constructor(decoder: Decoder, model: GenerationModel, options: SchedulerOptions, counters: EngineCounters) {
    this.#decoder = decoder
    this.#model = model
    this.#options = options
    this.#counters = counters
    this.#cache = decoder.newCache()
  }

  /**
   * Queues a request whose prompt is tokenized.
   * @throws prompt_too_long, overloaded
   */
  submit(prompt: readonly number[], request: TokenRequest, listener: Listener, signal: AbortSignal): void {
    const {contextLength = this.#decoder.contextLength} = request
    // A prompt that is only read needs no room for a reply.
    if (prompt.length + (request.maxTokens === 0 ? 0 : 1) > contextLength)
      throw new SvcError('prompt_too_long', {length: `${prompt.length} tokens`, context: contextLength})
    const {slots, queueLimit} = this.#options
    if (this.#waiting.length + this.#running.length >= slots + queueLimit)
      throw new SvcError('overloaded', {reason: `${queueLimit} requests are waiting already.`})
    this.#waiting.push({
      generation: new Generation(this.#model, prompt, request),
      adapted: request.adapter ?? true,
      listener,
      signal,
      filled: 0,
      promptTokens: prompt.length,
    })
    this.#count()
    this.#wake()
  }

  /** Resolves when nothing waits or runs. */
  async idle(): Promise<void> {
    await this.#turning
  }

  #wake(): void {
    this.#turning ??= this.#turn().finally(() => {
      this.#turning = undefined
      this.#count()
      if (this.#waiting.length > 0) this.#wake()
    })
  }

  /** Turns until nothing is left to do. */
  async #turn(): Promise<void> {
    try {
      while (this.#waiting.length + this.#running.length > 0) {
        this.#dropAborted()
        this.#admit()
        await this.#prefill()
        await this.#step()
        // Lets messages in, such as new requests and cancellations, before the next run blocks the thread.
        await new Promise((resolve) => setImmediate(resolve))
      }
    } catch (error) {
      // The runtime has failed: whatever was running is lost, and said so.
      for (const job of [...this.#running].reverse()) {
        this.#leave(job)
        job.listener.fail(error)
      }
    }
  }

  #dropAborted(): void {
    for (const job of this.#waiting.filter(({signal}) => signal.aborted))
      this.#waiting.splice(this.#waiting.indexOf(job), 1)
    for (const job of this.#running.filter(({signal}) => signal.aborted)) this.#leave(job)
  }

  #admit(): void {
    while (this.#running.length < this.#options.slots) {
      const job = this.#waiting.shift()
      if (job === undefined) break
      this.#cache.add()
      this.#running.push(job)
      job.generation.start()
    }
    this.#count()
  }

  /** One chunk of the first prompt that is not read yet. */
  async #prefill(): Promise<void> {
    const slot = this.#running.findIndex(isReading)
    const job = this.#running[slot]
    if (job === undefined) return
    const others = this.#running.some((other) => !isReading(other))
    const {generation} = job
    const most = generation.scoresPrompt ? Math.floor(mostScored / this.#decoder.spec.vocabSize) : largestChunk
    const size = Math.max(1, Math.min(others ? this.#chunk : largestChunk, most))
    const chunk = generation.tokens.slice(job.filled, job.filled + size)
    const started = performance.now()
    const logits = await this.#prefillChunk(slot, job, chunk)
    if (others && chunk.length === size) this.#chunk = nextChunk(size, performance.now() - started)
    this.#counters.add('promptTokens', chunk.length)
    this.#counters.add('graphRuns', 1)
    job.filled += chunk.length
    if (!isReading(job) && !job.signal.aborted) this.#advance(job, logits)
  }

  /** The logits of the chunk's last position. A request that scores its prompt takes those of the others too. */
  async #prefillChunk(
    slot: number,
    {generation, adapted, filled}: Job,
    chunk: readonly number[],
  ): Promise<Float32Array> {
    if (!generation.scoresPrompt) return this.#decoder.prefill(this.#cache, slot, chunk, {adapted})
    const logits = await this.#decoder.prefill(this.#cache, slot, chunk, {adapted, logits: 'all'})
    generation.scorePrompt(logits, filled, chunk.length)
    return logits.subarray(-logits.length / chunk.length)
  }

  /** The next token of every request whose prompt is read, in one run. */
  async #step(): Promise<void> {
    this.#dropAborted()
    const jobs = this.#running.filter((job) => !isReading(job))
    if (jobs.length === 0) return
    const tokens = jobs.map(({generation}) => generation.tokens.at(-1) as number)
    const logits = await this.#decoder.step(
      this.#cache,
      tokens,
      jobs.map(({adapted}) => adapted),
    )
    this.#counters.add('graphRuns', 1)
    if (jobs.length > 1) this.#counters.add('batchedRuns', 1)
    const width = logits.length / jobs.length
    for (const [row, job] of jobs.entries())
      if (!job.signal.aborted) this.#advance(job, logits.subarray(row * width, (row + 1) * width))
  }

  /** Counts tokens and frees the slot before it emits events: a client that reads its last event finds both done. */
  #advance(job: Job, logits: Float32Array): void {
    const {generation, listener} = job
    const before = generation.completionTokens
    try {
      const events = generation.next(logits)
      this.#counters.add('completionTokens', generation.completionTokens - before)
      if (generation.finished) this.#leave(job)
      for (const event of events) listener.event(event)
    } catch (error) {
      if (this.#running.includes(job)) this.#leave(job)
      listener.fail(error)
    }
  }

  /**
   * Frees the slot of a job. The last job that generates moves into its gap; those that wait to be read move up by one, in
   * the order in which they came, so that no job waits while later ones are read.
   */
  #leave(job: Job): void {
    let gap = this.#running.indexOf(job)
    const last = this.#running.findLastIndex((other) => !isReading(other))
    if (gap < last) {
      this.#move(last, gap)
      gap = last
    }
    for (; gap < this.#running.length - 1; gap++) this.#move(gap + 1, gap)
    this.#running.pop()
    this.#cache.pop()
    this.#count()
  }

  #move(from: number, to: number): void {
    this.#cache.move(from, to)
    this.#running[to] = this.#running[from] as Job
  }

  #count(): void {
    this.#counters.set('waiting', this.#waiting.length)
    this.#counters.set('running', this.#running.length)
  }
}

/**
 * The size of the next chunk after one of a given size took so long. A run has a cost of its own beside that of its
 * tokens, so the size is found by steps and not by division alone.
 */
export function nextChunk(size: number, ms: number): number {
  if (ms > longestPauseMs) return Math.max(smallestChunk, Math.floor((size * longestPauseMs) / ms))
  return ms < 0.6 * longestPauseMs ? Math.min(largestChunk, 2 * size) : size
}
