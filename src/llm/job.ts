import type {AdapterLease} from './adapters/resident-adapters.js'
import type {RequestClient} from './fair-queue.js'
import type {Generation} from './generation.js'
import type {GenerateEvent} from './request.js'
import type {SequenceState} from './sequence-cache.js'

/** Receives the events of a request. After an abort, neither method is called. */
export interface Listener {
  event(event: GenerateEvent): void
  fail(error: unknown): void
}

/** A request that waits or runs. */
export interface Job {
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
  /** Where a part of its prefill ends, ordered, because other prompts probably begin with so many tokens. */
  stops: readonly number[]
  /** Tokens whose n-grams are remembered. */
  learned: number
  /** Its keys and values, while it waits after an interruption. */
  interrupted?: SequenceState
}

/** Whether a job can start: its adapter is in memory. */
export const isReady = ({adapter}: Job): boolean => adapter === undefined || adapter.adapter !== undefined

export const isPrefilling = ({prefilled, promptTokens}: Job): boolean => prefilled < promptTokens
