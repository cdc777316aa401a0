import {counted, SvcError} from '../errors/index.js'
import {stepsInTurns} from '../grammar/index.js'
import {pause} from '../process/index.js'
import type {AdapterLease} from './adapters/resident-adapters.js'
import type {EngineCounters} from './counters.js'
import type {Decoder, Prediction} from './decoder.js'
import {anyClient} from './fair-queue.js'
import {Generation, type GenerationModel} from './generation.js'
import {isPrefilling, type Job, type Listener} from './job.js'
import {commonLength, type PrefixCache} from './prefix-cache.js'
import type {PromptLookup} from './prompt-lookup.js'
import type {ReplyConstraint} from './reply-constraint.js'
import type {TokenRequest} from './request.js'
import {type QueueOptions, RequestQueue} from './request-queue.js'
import {Slots} from './slots.js'
import {attentionsOf} from './spec.js'

export interface SchedulerOptions extends QueueOptions {
  /** Saved beginnings of prompts; default: none are saved. */
  prefixes?: PrefixCache | undefined
  /** Drafts repeated text, which is then verified; default: nothing is drafted. */
  lookup?: PromptLookup | undefined
}

/**
 * Target for the maximum pause of a running stream during the prefill of another request: so many steps, but at least so
 * many ms. A shorter part of a prompt is hardly faster, because each run reads all weights.
 */
const maxPauseSteps = 2.5
const maxPauseMs = 150
/** Longest pause for the loading of an adapter after each step, steps. */
const loadingShare = 0.25
const minChunk = 4
const firstChunk = 16
/** The values of a longer chunk do not fit into the caches of a core: 512 tokens took up to 1.4 times as long. */
const maxChunk = 256
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
  readonly #counters: EngineCounters
  readonly #slots: Slots
  readonly #lookup: PromptLookup | undefined
  readonly #queue: RequestQueue
  #arrivals = 0
  #turning: Promise<void> | undefined
  /** Tokens to prefill per turn while other requests decode; adapted to the measured speed. */
  #chunk = firstChunk
  /** Duration of a decode step, ms: a running mean. */
  #stepMs = 0

  constructor(decoder: Decoder, model: GenerationModel, options: SchedulerOptions, counters: EngineCounters) {
    this.#decoder = decoder
    this.#model = model
    this.#counters = counters
    this.#slots = new Slots(decoder.newCache(), options.prefixes)
    this.#queue = new RequestQueue(this.#slots, options, counters, () => this.#wake())
    this.#lookup = options.lookup
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
    this.#queue.requireRoom(client)
    this.#queue.add({
      client,
      generation: new Generation(this.#model, prompt, request, constraint),
      adapter,
      listener,
      signal,
      arrival: this.#arrivals++,
      prefilled: 0,
      promptTokens: prompt.length,
      stops: [],
      learned: 0,
    })
  }

  /** Resolves when nothing waits or runs. */
  async idle(): Promise<void> {
    while (this.#queue.length + this.#slots.jobs.length > 0) await (this.#turning ?? this.#queue.adapterLoaded())
    await this.#turning
  }

  /** Whether a turn can do anything. */
  get #hasWork(): boolean {
    return this.#slots.jobs.length > 0 || this.#queue.hasWork
  }

  #wake(): void {
    this.#turning ??= this.#turn().finally(() => {
      this.#turning = undefined
      this.#queue.count()
      if (this.#hasWork) this.#wake()
    })
  }

  /** Runs turns until no request is left. */
  async #turn(): Promise<void> {
    try {
      while (this.#hasWork) {
        this.#dropAborted()
        this.#queue.admit()
        await this.#prefill()
        await this.#step()
        await this.#yield()
      }
    } catch (error) {
      // The runtime failed, so all running requests fail.
      for (const job of [...this.#slots.jobs].reverse()) {
        this.#free(job)
        job.listener.fail(error)
      }
    }
  }

  /**
   * Lets the thread process messages, such as new requests and cancellations, before the next run blocks it. Adapters that
   * requests wait for get a part of its time: to read one takes many turns of the event loop, which would each last a step.
   */
  async #yield(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    const {loading} = this.#queue
    if (loading.length === 0) return
    await Promise.race([...loading, pause(loadingShare * this.#stepMs)]).catch(() => undefined)
  }

  #dropAborted(): void {
    this.#queue.dropAborted()
    for (const job of this.#slots.jobs.filter(({signal}) => signal.aborted)) this.#leave(job)
  }

  /** The next prompt to prefill: the oldest of the client that was served least. */
  #nextPrompt(): Job | undefined {
    const older = (a: Job, b: Job) => this.#queue.served(a) - this.#queue.served(b) || a.arrival - b.arrival
    return this.#slots.jobs.filter(isPrefilling).sort(older)[0]
  }

  /** Prefills one chunk of a prompt. */
  async #prefill(): Promise<void> {
    const job = this.#nextPrompt()
    if (job === undefined) return
    const slot = this.#slots.slotOf(job)
    const othersDecode = this.#slots.decoding.length > 0
    const {generation} = job
    const size = this.#chunkSize(othersDecode ? this.#chunk : maxChunk, generation.scoresPrompt)
    const end = job.stops.find((stop) => stop > job.prefilled) ?? job.promptTokens
    const chunk = nextTokens(generation.tokens, job.prefilled, end, size)
    const started = performance.now()
    const predictions = await this.#decoder.prefill(this.#slots.cache, slot, chunk, {
      adapter: job.adapter?.adapter,
      predict: generation.scoresPrompt ? 'all' : 'last',
      logits: generation.needsLogits,
    })
    if (othersDecode && chunk.length >= size)
      this.#chunk = nextChunk(size, performance.now() - started, Math.max(maxPauseMs, maxPauseSteps * this.#stepMs))
    this.#counters.add('promptTokens', chunk.length)
    this.#counters.add('graphRuns', 1)
    if (generation.scoresPrompt) generation.scorePrompt(predictions, job.prefilled)
    job.prefilled += chunk.length
    this.#slots.keep(job)
    if (isPrefilling(job)) return
    this.#slots.endPrefill(job)
    await this.#advance(job, predictions.at(-1) as Prediction)
  }

  /** Adds the next token of every request after its prefill; several tokens of a single request whose text repeats. */
  async #step(): Promise<void> {
    this.#dropAborted()
    const jobs = this.#slots.decoding
    for (const job of jobs) this.#learn(job)
    if (jobs.length > 1) await this.#stepAll(jobs)
    else if (jobs[0] !== undefined) await this.#stepAlone(jobs[0])
  }

  /** Whether several tokens of a request are to be computed, because its format forced those after a selected one. */
  #hasForced(job: Job): boolean {
    return job.generation.tokens.length - this.#slots.computed(job) > 1
  }

  #timeStep(ms: number): void {
    this.#stepMs += (this.#stepMs === 0 ? 1 : 0.1) * (ms - this.#stepMs)
  }

  /** Runs one batched decode step. Forced tokens are computed before it, each request on its own. */
  async #stepAll(jobs: readonly Job[]): Promise<void> {
    for (const job of jobs) if (this.#hasForced(job) && !job.signal.aborted) await this.#computeForced(job)
    this.#dropAborted()
    const batch = this.#slots.decoding
    // The others have got a token in this turn. Their rows are computed and dropped, because slots must be contiguous.
    const isIncluded = batch.map((job) => !this.#hasForced(job))
    if (!isIncluded.includes(true)) return
    const started = performance.now()
    const lengths = batch.map((job) => this.#slots.computed(job))
    for (const row of batch.keys()) if (!isIncluded[row]) this.#slots.cache.hold(row)
    const predictions = await this.#decoder.step(
      this.#slots.cache,
      batch.map(({generation}, row) => generation.tokens[lengths[row] as number] as number),
      {
        adapters: batch.map(({adapter}) => adapter?.adapter),
        logits: batch.some(({generation}) => generation.needsLogits),
      },
    )
    this.#timeStep(performance.now() - started)
    this.#counters.add('graphRuns', 1)
    this.#counters.add('batchedRuns', 1)
    for (const [row, length] of lengths.entries()) if (!isIncluded[row]) this.#undo(row, length)
    for (const [row, job] of batch.entries())
      if (isIncluded[row]) await this.#advance(job, predictions[row] as Prediction)
  }

  /** Drops the positions of a run after a number of them. */
  #undo(slot: number, length: number): void {
    this.#slots.cache.setLength(slot, length)
    this.#slots.cache.settle(slot)
  }

  /** Computes a selected token of a request and the forced ones after it, and selects the next. */
  async #computeForced(job: Job): Promise<void> {
    const {generation, adapter: {adapter} = {}} = job
    const {tokens, needsLogits: logits} = generation
    const size = this.#chunkSize(maxChunk, false)
    for (;;) {
      const slot = this.#slots.slotOf(job)
      const chunk = nextTokens(tokens, this.#slots.cache.length(slot), tokens.length, size)
      const [prediction] = await this.#decoder.prefill(this.#slots.cache, slot, chunk, {
        adapter,
        predict: 'last',
        logits,
      })
      this.#counters.add('graphRuns', 1)
      if (this.#slots.cache.length(slot) === tokens.length) return this.#advance(job, prediction as Prediction)
    }
  }

  /**
   * Runs the last token of a request and drafted ones. Each prediction selects a token as in a run of its own, so that
   * the text is the same with any draft. The first one that differs from the draft ends it. Recurrent states cannot be
   * cut, so they are then those before the run, and the next run computes the accepted tokens again.
   */
  async #stepAlone(job: Job): Promise<void> {
    if (this.#hasForced(job)) return this.#computeForced(job)
    const {generation} = job
    const {tokens} = generation
    const {length} = tokens
    const draft = this.#draft(job)
    if (draft === undefined) return
    const started = performance.now()
    if (draft.length > 0) this.#slots.cache.hold(0)
    const predictions = await this.#decoder.prefill(this.#slots.cache, 0, [...tokens.slice(-1), ...draft], {
      adapter: job.adapter?.adapter,
      predict: 'all',
      logits: generation.needsLogits,
    })
    const ms = performance.now() - started
    if (draft.length === 0) this.#timeStep(ms)
    this.#counters.add('graphRuns', 1)
    this.#counters.add('draftedTokens', draft.length)
    let right = 0
    this.#slots.cache.setLength(0, length)
    while (right < predictions.length) {
      const next = length + right
      await this.#advance(job, predictions[right] as Prediction)
      if (job.signal.aborted || !this.#slots.jobs.includes(job)) break
      const added = tokens.length - next
      const same = commonLength(tokens.slice(next), draft.slice(right), added)
      this.#counters.add('acceptedTokens', same)
      right += same
      this.#slots.cache.setLength(0, length + right)
      if (same < added) break
    }
    if (this.#slots.jobs.includes(job)) this.#slots.cache.settle(0)
    this.#lookup?.ran(predictions.length, ms, tokens.slice(length))
  }

  /** Probable tokens after the last one, as far as the format of the request allows them; undefined if the request failed. */
  #draft(job: Job): readonly number[] | undefined {
    if (this.#lookup === undefined) return []
    const {generation} = job
    const {tokens, remaining, needsLogits} = generation
    const draft = this.#lookup.draft(tokens, Math.min(remaining, this.#maxTokens(needsLogits)) - 1)
    try {
      return generation.allowedStart(draft)
    } catch (error) {
      this.#fail(job, error)
      return undefined
    }
  }

  /** Most tokens of one request in a run, for all of which logits may be returned. */
  #maxTokens(withLogits: boolean): number {
    const {spec} = this.#decoder
    const scores = this.#slots.cache.capacity * Math.max(1, ...attentionsOf(spec).map(({heads}) => heads))
    return Math.floor(maxIntermediate / Math.max(scores, withLogits ? spec.vocabSize : 0))
  }

  /** At least two: the kernels round a run of one token differently from a longer one. */
  #chunkSize(size: number, withLogits: boolean): number {
    return Math.max(2, Math.min(size, this.#maxTokens(withLogits)))
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
      this.#queue.charge(job, added)
      if (generation.finished) this.#leave(job)
      for (const event of events) listener.event(event)
    } catch (error) {
      if (!signal.aborted) this.#fail(job, error)
    }
  }

  #fail(job: Job, error: unknown): void {
    if (this.#slots.jobs.includes(job)) this.#leave(job)
    job.listener.fail(error)
  }

  #leave(job: Job): void {
    this.#slots.save(job)
    this.#free(job)
  }

  #free(job: Job): void {
    this.#slots.free(job)
    job.adapter?.release()
    this.#queue.count()
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
export function nextChunk(size: number, ms: number, maxMs = maxPauseMs): number {
  if (ms > maxMs) return Math.max(minChunk, Math.floor((size * maxMs) / ms))
  return ms < 0.6 * maxMs ? Math.min(maxChunk, 2 * size) : size
}
