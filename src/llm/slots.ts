import {isPrefilling, type Job} from './job.js'
import {commonLength, minPrefixLength, type PrefixCache} from './prefix-cache.js'
import type {SequenceCache, SequenceState} from './sequence-cache.js'

/** Key of what the keys and values of a sequence depend on besides its tokens. */
const keyOf = ({adapter}: Job) => adapter?.key ?? ''

/** Tokens at the end of a prompt that begin the reply, and that the next turn may not repeat. */
const endOfPrompt = 16
/** Least number of tokens to compute before such an end: fewer are computed again faster. */
const minBeforeEnd = 64

/**
 * Where checkpoints of the states of a prompt are worth it: where it begins to differ from known ones, and before its end.
 * @param length tokens that need not be computed
 * @param common tokens in common with known prompts
 */
function stopsOf(length: number, common: number, promptTokens: number): number[] {
  const end = promptTokens - endOfPrompt
  const branches = common - length >= minPrefixLength ? [common] : []
  const isEnd = end - length >= minBeforeEnd && branches.every((branch) => end - branch >= minPrefixLength)
  return [...branches, ...(isEnd ? [end] : [])]
}

/** The running jobs by slot of the cache. Decoding ones are first, because a batched run needs contiguous slots. */
export class Slots {
  readonly cache: SequenceCache
  readonly #prefixes: PrefixCache | undefined
  readonly #jobs: Job[] = []

  constructor(cache: SequenceCache, prefixes: PrefixCache | undefined) {
    this.cache = cache
    this.#prefixes = prefixes
  }

  get jobs(): readonly Job[] {
    return this.#jobs
  }

  /** The jobs after their prefill, by slot. */
  get decoding(): readonly Job[] {
    return this.#jobs.filter((job) => !isPrefilling(job))
  }

  slotOf(job: Job): number {
    return this.#jobs.indexOf(job)
  }

  /** Number of tokens of a job that are in the cache. The one after them is the next to compute. */
  computed(job: Job): number {
    return this.cache.length(this.slotOf(job))
  }

  /**
   * Gives a job a slot, with what is known of the beginning of its prompt from a finished or a running job.
   * @returns number of tokens that need not be computed; at least two are, because the logits of the last one are needed,
   * and a run of one token rounds differently
   */
  add(job: Job): number {
    const {
      generation: {tokens, scoresPrompt},
      promptTokens,
    } = job
    const slot = this.cache.add()
    const prefixes = scoresPrompt ? undefined : this.#prefixes
    const max = promptTokens - 2
    const key = keyOf(job)
    const saved = prefixes?.find(tokens, key, max)
    let running: {slot: number; length: number} | undefined
    let longest = saved?.common ?? 0
    for (const [other, sibling] of prefixes === undefined ? [] : this.#jobs.entries()) {
      if (keyOf(sibling) !== key) continue
      const common = commonLength(sibling.generation.tokens, tokens, Math.min(max, this.cache.length(other)))
      const length = this.cache.usable(other, common)
      if (length >= Math.max(minPrefixLength, ((running ?? saved)?.length ?? 0) + 1)) running = {slot: other, length}
      longest = Math.max(longest, common)
    }
    const {length} = running ?? saved ?? {length: 0}
    if (running !== undefined) this.cache.copy(running.slot, slot, length)
    else if (saved?.state !== undefined) this.cache.restore(slot, saved.state, length)
    if (this.cache.isRecurrent && prefixes !== undefined) job.stops = stopsOf(length, longest, promptTokens)
    this.#jobs.push(job)
    return length
  }

  /** Keeps a checkpoint of a job after a part of its prefill, if prompts are saved and it is worth it. */
  keep(job: Job): void {
    if (this.#prefixes !== undefined) this.cache.keep(this.slotOf(job), job.stops.includes(job.prefilled))
  }

  /** Moves a job whose prefill has ended to those that decode. */
  endPrefill(job: Job): void {
    const slot = this.slotOf(job)
    const first = this.#jobs.findIndex((other) => other === job || isPrefilling(other))
    if (slot === first) return
    const state = this.cache.save(slot)
    this.#move(first, slot)
    this.cache.restore(first, state, state.length)
    this.#jobs[first] = job
  }

  /** Saves the keys and values of a job that ends. */
  save(job: Job): void {
    const slot = this.slotOf(job)
    this.cache.settle(slot)
    const tokens = job.generation.tokens.slice(0, this.cache.length(slot))
    const key = keyOf(job)
    if (this.#prefixes?.wants(tokens, key, this.cache.bytesOf(slot)))
      this.#prefixes.add(tokens, key, this.cache.save(slot))
  }

  /** Frees the slot of a job that will continue, and returns its keys and values. */
  interrupt(job: Job): SequenceState {
    const state = this.cache.save(this.slotOf(job))
    this.free(job)
    return state
  }

  /** Gives an interrupted job a slot again. */
  resume(job: Job, state: SequenceState): void {
    this.cache.restore(this.cache.add(), state, state.length)
    this.#jobs.push(job)
    if (!isPrefilling(job)) this.endPrefill(job)
  }

  /** Frees the slot of a job. The last decoding job moves to the gap, and prefilling jobs move up by one. */
  free(job: Job): void {
    let gap = this.slotOf(job)
    const last = this.#jobs.findLastIndex((other) => !isPrefilling(other))
    if (gap < last) {
      this.#move(last, gap)
      gap = last
    }
    for (; gap < this.#jobs.length - 1; gap++) this.#move(gap + 1, gap)
    this.#jobs.pop()
    this.cache.pop()
  }

  #move(from: number, to: number): void {
    this.cache.copy(from, to)
    this.#jobs[to] = this.#jobs[from] as Job
  }
}
