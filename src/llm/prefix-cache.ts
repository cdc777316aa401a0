import {type SequenceState, usableLength} from './sequence-cache.js'

/** Shortest prefix that is reused, tokens: copying a shorter one saves nothing. */
export const minPrefixLength = 16

/** A sequence whose keys and values are saved. */
export interface SavedPrefix {
  tokens: readonly number[]
  /** Key of the adapter; empty without one. */
  adapter: string
  state: SequenceState
}

/** Beginning of a prompt whose keys and values are known. */
export interface Prefix {
  /** Undefined if nothing of it can be used. */
  state: SequenceState | undefined
  /** Number of tokens that can be used, which may be less than are saved; 0 if too few. */
  length: number
  /** Number of tokens in common with a saved sequence. More than can be used, if that has no checkpoint there. */
  common: number
}

/**
 * Keys and values of finished requests, so that another request that begins with the same tokens computes only the rest.
 * The least recently used ones are dropped when the limit is reached.
 */
export class PrefixCache {
  readonly #maxBytes: number
  readonly #found: (prefix: SavedPrefix, length: number) => void
  /** Least recently used first. */
  readonly #entries = new Set<SavedPrefix>()
  #bytes = 0

  /**
   * @param maxBytes 0 disables the cache
   * @param found called with each saved sequence that is found, and the number of its tokens that are used
   */
  constructor(maxBytes: number, found: (prefix: SavedPrefix, length: number) => void = () => undefined) {
    this.#maxBytes = maxBytes
    this.#found = found
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The longest saved beginning of a prompt, at most `max` tokens. */
  find(prompt: readonly number[], adapter: string, max: number): Prefix {
    let best: {entry: SavedPrefix; length: number} | undefined
    let longest = 0
    for (const entry of this.#entries) {
      if (entry.adapter !== adapter) continue
      const common = commonLength(entry.tokens, prompt, max)
      const length = usableLength(entry.state, common)
      if (length >= Math.max(minPrefixLength, best?.length ?? 0)) best = {entry, length}
      longest = Math.max(longest, common)
    }
    if (best === undefined) return {state: undefined, length: 0, common: longest}
    this.#use(best.entry)
    this.#found(best.entry, best.length)
    return {state: best.entry.state, length: best.length, common: longest}
  }

  /** Whether a sequence is worth saving: it is not yet known, and may fit. */
  wants(tokens: readonly number[], adapter: string, bytes: number): boolean {
    if (tokens.length < minPrefixLength || bytes > this.#maxBytes) return false
    for (const entry of this.#entries)
      if (entry.adapter === adapter && commonLength(entry.tokens, tokens, tokens.length) === tokens.length) {
        this.#use(entry)
        return false
      }
    return true
  }

  /** Saves a sequence, which replaces those that are its beginnings. */
  add(tokens: readonly number[], adapter: string, state: SequenceState): void {
    for (const entry of this.#entries)
      if (entry.adapter === adapter && commonLength(entry.tokens, tokens, entry.tokens.length) === entry.tokens.length)
        this.#drop(entry)
    this.#entries.add({tokens, adapter, state})
    this.#bytes += state.bytes
    for (const entry of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break
      this.#drop(entry)
    }
  }

  #use(entry: SavedPrefix): void {
    this.#entries.delete(entry)
    this.#entries.add(entry)
  }

  #drop(entry: SavedPrefix): void {
    this.#entries.delete(entry)
    this.#bytes -= entry.state.bytes
  }
}

/** Number of equal tokens at the start of two sequences, at most `max`. */
export function commonLength(a: readonly number[], b: readonly number[], max: number): number {
  const limit = Math.min(a.length, b.length, max)
  for (let i = 0; i < limit; i++) if (a[i] !== b[i]) return i
  return limit
}
