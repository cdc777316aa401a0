import {counted, SvcError} from '../errors/index.js'
import {stepsInTurns} from '../grammar/index.js'
import {onAbort} from '../process/index.js'
import type {AdapterLease} from './adapters/resident-adapters.js'
import type {EngineCounters} from './counters.js'
import type {Decoder, Prediction} from './decoder.js'
import {anyClient, FairQueue, type RequestClient} from './fair-queue.js'
import {Generation, type GenerationModel} from './generation.js'
import type {KvCache} from './kv-cache.js'
import {commonLength, type PrefixCache, shortestPrefix} from './prefix-cache.js'
import {PromptLookup} from './prompt-lookup.js'
import type {ReplyConstraint} from './reply-constraint.js'
import type {GenerateEvent, TokenRequest} from './request.js'

export interface SchedulerOptions {
  /** Maximum number of concurrent requests. */
  slots: number
  /** Maximum number of requests that wait for a slot. */
  queueLimit: number
  /** Saved beginnings of prompts; default: none are saved. */
  prefixes?: PrefixCache | undefined
  /** Whether repeated text is drafted and verified; default false. */
  lookup?: boolean | undefined
}

/** Receives the events of a request. After an abort, neither method is called. */
export interface Listener {
  event(event: GenerateEvent): void
  fail(error: unknown): void
}

interface Job {
  client: RequestClient
  generation: Generation
  /** The adapter that it was admitted with; undefined for none. */
  adapter: AdapterLease | undefined
  listener: Listener
  signal: AbortSignal
  /** Number of requests that arrived before it. */
  arrival: number
  /** Tokens of the prompt that are in the cache. */
  prefilled: number
  promptTokens: number
  /** Tokens whose n-grams are remembered. */
  learned: number
}

/** Whether a job can start: its adapter is in memory. */
const isReady = ({adapter}: Job) => adapter === undefined || adapter.adapter !== undefined

/** Key of what the keys and values of a sequence depend on besides its tokens. */
const keyOf = ({adapter}: Pick<Job, 'adapter'>) => adapter?.key ?? ''

const isPrefilling = ({prefilled, promptTokens}: Job) => prefilled < promptTokens

/**
 * Target for the maximum pause of a running stream during the prefill of another request: so many steps, but at least so
 * many ms. A shorter part of a prompt is hardly faster, because each run reads all weights.
 */
const maxPauseSteps = 2.5
const maxPauseMs = 150
const smallestChunk = 4
const firstChunk = 16
/** The values of a longer chunk do not fit into the caches of a core: 512 tokens took up to 1.4 times as long. */
const largestChunk = 256
/**
 * Maximum size of an intermediate result of a run, floats: 64 MiB. The largest are the attention scores of a layer, for
 * which the runtime reserves the whole capacity, and the logits of several positions.
 */
const maxIntermediate = 2 ** 24

/**
 * Continuous batching: shares one decoder between requests. Each turn admits waiting requests, prefills one chunk of one
 * prompt, and runs one batched decode step; the graph cannot mix prefill and decode in one run. The chunk size follows
 * the measured speed, so that streams continue during the prefill of a long prompt.
 */
export class Scheduler {
  readonly #decoder: Decoder
  readonly #model: GenerationModel
  readonly #options: SchedulerOptions
  readonly #counters: EngineCounters
  readonly #cache: KvCache
  readonly #lookup: PromptLookup | undefined
  readonly #waiting = new FairQueue<Job>()
  /**
   * By slot. Decoding jobs are first, because a batched run needs contiguous slots.
   */
  readonly #running: Job[] = []
  #arrivals = 0
  #turning: Promise<void> | undefined
  /** Tokens to prefill per turn while other requests decode; adapted to the measured speed. */
  #chunk = firstChunk
  /** Duration of a decode step, ms: a running mean. */
  #stepMs = 0

  constructor(decoder: Decoder, model: GenerationModel, options: SchedulerOptions, counters: EngineCounters) {
    this.#decoder = decoder
    this.#model = model
    this.#options = options
    this.#counters = counters
    this.#cache = decoder.newCache()
    this.#lookup = options.lookup ? new PromptLookup() : undefined
  }

  /**
   * Queues a request with a tokenized prompt.
   * @param constraint that of the request's format, if it has one
   * @param adapter released when the request ends
   * @throws prompt_too_long, overloaded
   */
  submit(
    prompt: readonly number[],
    request: TokenRequest,
    listener: Listener,
    signal: AbortSignal,
    constraint?: ReplyConstraint,
    adapter?: AdapterLease,
  ): void {
    const {contextLength = this.#decoder.contextLength} = request
    // With a maximum of 0 tokens, the prompt may fill the context.
    if (prompt.length + (request.maxTokens === 0 ? 0 : 1) > contextLength)
      throw new SvcError('prompt_too_long', {length: counted(prompt.length, 'token'), context: contextLength})
    const {client = anyClient} = request
    this.#requireRoom(client)
    const job: Job = {
      client,
      generation: new Generation(this.#model, prompt, request, constraint),
      adapter,
      listener,
      signal,
      arrival: this.#arrivals++,
      prefilled: 0,
      promptTokens: prompt.length,
      learned: 0,
    }
    this.#waiting.add(job)
    this.#count()
    if (isReady(job)) this.#wake()
    else this.#awaitAdapter(job)
  }

  #awaitAdapter(job: Job): void {
    onAbort(job.signal, () => this.#wake())
    job.adapter?.ready.then(
      () => this.#wake(),
      (error) => {
        if (!this.#waiting.items.includes(job)) return
        this.#forget(job)
        this.#count()
        job.listener.fail(error)
      },
    )
  }

  /** @throws overloaded if the queue, or the part of it that a client may fill, is full */
  #requireRoom({id, share}: RequestClient): void {
    const {slots, queueLimit} = this.#options
    const ofClient = Math.ceil(share * queueLimit)
    const own = [...this.#waiting.items, ...this.#running].filter(({client}) => client.id === id).length
    const all = this.#waiting.length + this.#running.length
    if (all < slots + queueLimit && own < slots + ofClient) return
    const waiting = counted(all < slots + queueLimit ? ofClient : queueLimit, 'request is', 'requests are')
    throw new SvcError('overloaded', {reason: `The queue is full: ${waiting} waiting.`})
  }

  /** Resolves when nothing waits or runs. */
  async idle(): Promise<void> {
    while (this.#waiting.length + this.#running.length > 0)
      await (this.#turning ??
        Promise.race(this.#waiting.items.map(({adapter}) => adapter?.ready.catch(() => undefined))))
    await this.#turning
  }

  /** Whether a turn can do anything. */
  get #hasWork(): boolean {
    return this.#running.length > 0 || this.#waiting.items.some((job) => isReady(job) || job.signal.aborted)
  }

  #wake(): void {
    this.#turning ??= this.#turn().finally(() => {
      this.#turning = undefined
      this.#count()
      if (this.#hasWork) this.#wake()
    })
  }

  /** Runs turns until no request is left. */
  async #turn(): Promise<void> {
    try {
      while (this.#hasWork) {
        this.#dropAborted()
        this.#admit()
        await this.#prefill()
        await this.#step()
        // Process messages, such as new requests and cancellations, before the next run blocks the thread.
        await new Promise((resolve) => setImmediate(resolve))
      }
    } catch (error) {
      // The runtime failed, so all running requests fail.
      for (const job of [...this.#running].reverse()) {
        this.#free(job)
        job.listener.fail(error)
      }
    }
  }

  #dropAborted(): void {
    for (const job of this.#waiting.items.filter(({signal}) => signal.aborted)) this.#forget(job)
    for (const job of this.#running.filter(({signal}) => signal.aborted)) this.#leave(job)
  }

  /** Removes a job that has not started. */
  #forget(job: Job): void {
    this.#waiting.delete(job)
    job.adapter?.release()
  }

  /** Starts waiting jobs, except those whose adapters are being loaded. */
  #admit(): void {
    while (this.#running.length < this.#options.slots) {
      const job = this.#waiting.take(isReady)
      if (job === undefined) break
      job.prefilled = this.#restorePrefix(this.#cache.add(), job)
      this.#waiting.charge(job.client, job.promptTokens - job.prefilled)
      this.#running.push(job)
      job.generation.start(job.prefilled)
    }
    this.#count()
  }

  /**
   * Copies the keys and values of the beginning of a prompt, if they are known from a finished or a running request.
   * @returns number of tokens that need not be computed; at least two are, because the logits of the last one are needed,
   * and a run of one token rounds differently
   */
  #restorePrefix(slot: number, {generation: {tokens, scoresPrompt}, adapter, promptTokens}: Job): number {
    const {prefixes} = this.#options
    if (prefixes === undefined || scoresPrompt) return 0
    const most = promptTokens - 2
    const key = keyOf({adapter})
    const saved = prefixes.find(tokens, key, most)
    let running: {slot: number; length: number} | undefined
    for (const [other, job] of this.#running.entries()) {
      if (keyOf(job) !== key) continue
      const length = commonLength(job.generation.tokens, tokens, Math.min(most, this.#cache.length(other)))
      const longest = running?.length ?? saved?.length ?? 0
      if (length >= Math.max(shortestPrefix, longest + 1)) running = {slot: other, length}
    }
    const {length} = running ?? saved ?? {length: 0}
    if (running !== undefined) this.#cache.copy(running.slot, slot, length)
    else if (saved !== undefined) this.#cache.restore(slot, saved.state, length)
    this.#counters.add('cachedTokens', length)
    return length
  }

  /** Saves the keys and values of a request that ends. */
  #savePrefix(slot: number, {generation, adapter}: Job): void {
    const {prefixes} = this.#options
    if (prefixes === undefined) return
    const length = this.#cache.length(slot)
    const tokens = generation.tokens.slice(0, length)
    const key = keyOf({adapter})
    if (prefixes.wants(tokens, key, this.#cache.bytesOf(length))) prefixes.add(tokens, key, this.#cache.save(slot))
  }

  /** The next prompt to prefill: the oldest of the client that was served least. */
  #nextPrompt(): Job | undefined {
    const served = ({client}: Job) => this.#waiting.served(client)
    const older = (a: Job, b: Job) => served(a) - served(b) || a.arrival - b.arrival
    return this.#running.filter(isPrefilling).sort(older)[0]
  }

  /** Prefills one chunk of a prompt. */
  async #prefill(): Promise<void> {
    const job = this.#nextPrompt()
    if (job === undefined) return
    const slot = this.#running.indexOf(job)
    const othersDecode = this.#running.some((other) => !isPrefilling(other))
    const {generation} = job
    const size = this.#chunkSize(othersDecode ? this.#chunk : largestChunk, generation.scoresPrompt)
    const chunk = nextTokens(generation.tokens, job.prefilled, job.promptTokens, size)
    const started = performance.now()
    const predictions = await this.#decoder.prefill(this.#cache, slot, chunk, {
      adapter: job.adapter?.adapter,
      predict: generation.scoresPrompt ? 'all' : 'last',
      logits: generation.needsLogits,
    })
    if (othersDecode && chunk.length >= size)
      this.#chunk = nextChunk(size, performance.now() - started, Math.max(maxPauseMs, maxPauseSteps * this.#stepMs))
    this.#counters.add('promptTokens', chunk.length)
    this.#counters.add('graphRuns', 1)
    if (generation.scoresPrompt) generation.scorePrompt(predictions, job.prefilled)
    const first = this.#running.findIndex(isPrefilling)
    job.prefilled += chunk.length
    if (isPrefilling(job)) return
    this.#swap(slot, first)
    await this.#advance(job, predictions.at(-1) as Prediction)
  }

  /** Adds the next token of every request after its prefill; several tokens of a single request whose text repeats. */
  async #step(): Promise<void> {
    this.#dropAborted()
    const jobs = this.#decoding()
    for (const job of jobs) this.#learn(job)
    if (jobs.length > 1) await this.#stepAll(jobs)
    else if (jobs[0] !== undefined) await this.#stepAlone(jobs[0])
  }

  /** The requests after their prefill, by slot. */
  #decoding(): readonly Job[] {
    return this.#running.filter((job) => !isPrefilling(job))
  }

  /** Number of tokens of a request that are in the cache. The one after them is the next to compute. */
  #computed(job: Job): number {
    return this.#cache.length(this.#running.indexOf(job))
  }

  /** Whether several tokens of a request are to be computed, because its format forced those after a selected one. */
  #hasForced(job: Job): boolean {
    return job.generation.tokens.length - this.#computed(job) > 1
  }

  #timeStep(ms: number): void {
    this.#stepMs += (this.#stepMs === 0 ? 1 : 0.1) * (ms - this.#stepMs)
  }

  /** Runs one batched decode step. Forced tokens are computed before it, each request on its own. */
  async #stepAll(jobs: readonly Job[]): Promise<void> {
    for (const job of jobs) if (this.#hasForced(job) && !job.signal.aborted) await this.#computeForced(job)
    this.#dropAborted()
    const batch = this.#decoding()
    // The others have got a token in this turn. Their rows are computed and dropped, because slots must be contiguous.
    const isIncluded = batch.map((job) => !this.#hasForced(job))
    if (!isIncluded.includes(true)) return
    const started = performance.now()
    const lengths = batch.map((job) => this.#computed(job))
    const predictions = await this.#decoder.step(
      this.#cache,
      batch.map(({generation}, row) => generation.tokens[lengths[row] as number] as number),
      {
        adapters: batch.map(({adapter}) => adapter?.adapter),
        logits: batch.some(({generation}) => generation.needsLogits),
      },
    )
    this.#timeStep(performance.now() - started)
    this.#counters.add('graphRuns', 1)
    this.#counters.add('batchedRuns', 1)
    for (const [row, length] of lengths.entries()) if (!isIncluded[row]) this.#cache.setLength(row, length)
    for (const [row, job] of batch.entries())
      if (isIncluded[row]) await this.#advance(job, predictions[row] as Prediction)
  }

  /** Computes a selected token of a request and the forced ones after it, and selects the next. */
  async #computeForced(job: Job): Promise<void> {
    const {generation, adapter: {adapter} = {}} = job
    const {tokens, needsLogits: logits} = generation
    const size = this.#chunkSize(largestChunk, false)
    for (;;) {
      const slot = this.#running.indexOf(job)
      const chunk = nextTokens(tokens, this.#cache.length(slot), tokens.length, size)
      const [prediction] = await this.#decoder.prefill(this.#cache, slot, chunk, {adapter, predict: 'last', logits})
      this.#counters.add('graphRuns', 1)
      if (this.#cache.length(slot) === tokens.length) return this.#advance(job, prediction as Prediction)
    }
  }

  /**
   * Runs the last token of a request and drafted ones. Each prediction selects a token as in a run of its own, so that
   * the text is the same with any draft. The first one that differs from the draft ends it.
   */
  async #stepAlone(job: Job): Promise<void> {
    if (this.#hasForced(job)) return this.#computeForced(job)
    const {generation} = job
    const {tokens} = generation
    const {length} = tokens
    const draft = this.#draft(job)
    if (draft === undefined) return
    const started = performance.now()
    const predictions = await this.#decoder.prefill(this.#cache, 0, [...tokens.slice(-1), ...draft], {
      adapter: job.adapter?.adapter,
      predict: 'all',
      logits: generation.needsLogits,
    })
    const ms = performance.now() - started
    if (draft.length === 0) this.#timeStep(ms)
    this.#counters.add('graphRuns', 1)
    this.#counters.add('draftedTokens', draft.length)
    let right = 0
    this.#cache.setLength(0, length)
    while (right < predictions.length) {
      const next = length + right
      await this.#advance(job, predictions[right] as Prediction)
      if (job.signal.aborted || !this.#running.includes(job)) break
      const added = tokens.length - next
      const same = commonLength(tokens.slice(next), draft.slice(right), added)
      this.#counters.add('acceptedTokens', same)
      right += same
      this.#cache.setLength(0, length + right)
      if (same < added) break
    }
    this.#lookup?.ran(predictions.length, ms, tokens.slice(length))
  }

  /** Probable tokens after the last one, as far as the format of the request allows them; undefined if the request failed. */
  #draft(job: Job): readonly number[] | undefined {
    if (this.#lookup === undefined) return []
    const {generation} = job
    const {tokens, remaining, needsLogits} = generation
    const draft = this.#lookup.draft(tokens, Math.min(remaining, this.#mostTokens(needsLogits)) - 1)
    try {
      return generation.allowedStart(draft)
    } catch (error) {
      this.#fail(job, error)
      return undefined
    }
  }

  /** Most tokens of one request in a run, for all of which logits may be returned. */
  #mostTokens(withLogits: boolean): number {
    const {layers, vocabSize} = this.#decoder.spec
    const scores = this.#cache.capacity * Math.max(...layers.map(({attention}) => attention.heads))
    return Math.floor(maxIntermediate / Math.max(scores, withLogits ? vocabSize : 0))
  }

  /** At least two: the kernels round a run of one token differently from a longer one. */
  #chunkSize(size: number, withLogits: boolean): number {
    return Math.max(2, Math.min(size, this.#mostTokens(withLogits)))
  }

  #learn(job: Job): void {
    const {tokens} = job.generation
    this.#lookup?.learn(tokens, job.learned)
    job.learned = tokens.length
  }

  /**
   * Selects the next token, unless the request has been aborted. Updates the counters and frees the slot before it emits
   * events, so that both are visible after the last event.
   */
  async #advance(job: Job, prediction: Prediction): Promise<void> {
    const {generation, listener, signal} = job
    const before = generation.completionTokens
    try {
      await stepsInTurns(generation.prepare(), signal)
      const events = generation.next(prediction)
      const added = generation.completionTokens - before
      this.#counters.add('completionTokens', added)
      this.#waiting.charge(job.client, added)
      if (generation.finished) this.#leave(job)
      for (const event of events) listener.event(event)
    } catch (error) {
      if (!signal.aborted) this.#fail(job, error)
    }
  }

  #fail(job: Job, error: unknown): void {
    if (this.#running.includes(job)) this.#leave(job)
    job.listener.fail(error)
  }

  #leave(job: Job): void {
    this.#savePrefix(this.#running.indexOf(job), job)
    this.#free(job)
  }

  /**
   * Frees the slot of a job. The last decoding job moves to the gap, and prefilling jobs move up by one.
   */
  #free(job: Job): void {
    let gap = this.#running.indexOf(job)
    const last = this.#running.findLastIndex((other) => !isPrefilling(other))
    if (gap < last) {
      this.#move(last, gap)
      gap = last
    }
    for (; gap < this.#running.length - 1; gap++) this.#move(gap + 1, gap)
    this.#running.pop()
    this.#cache.pop()
    job.adapter?.release()
    this.#count()
  }

  #swap(a: number, b: number): void {
    if (a === b) return
    const [first, second] = [this.#running[a], this.#running[b]] as [Job, Job]
    const state = this.#cache.save(a)
    this.#move(b, a)
    this.#cache.restore(b, state, state.length)
    this.#running[a] = second
    this.#running[b] = first
  }

  #move(from: number, to: number): void {
    this.#cache.copy(from, to)
    this.#running[to] = this.#running[from] as Job
  }

  #count(): void {
    this.#counters.set('waiting', this.#waiting.length)
    this.#counters.set('running', this.#running.length)
  }
}

/**
 * Up to `size` tokens of a text from a position on. The kernels round a run of one token differently from a longer one, so
 * a single last token is included.
 */
function nextTokens(tokens: readonly number[], from: number, end: number, size: number): number[] {
  const to = from + size
  return tokens.slice(from, to + 1 === end ? to + 1 : Math.min(to, end))
}

/**
 * Size of the next prefill chunk, from the duration of the last one. A run also has a fixed cost, so the size grows in
 * steps instead of by division.
 */
export function nextChunk(size: number, ms: number, mostMs = maxPauseMs): number {
  if (ms > mostMs) return Math.max(smallestChunk, Math.floor((size * mostMs) / ms))
  return ms < 0.6 * mostMs ? Math.min(largestChunk, 2 * size) : size
}
