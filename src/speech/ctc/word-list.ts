import type {PrefixScorer} from './prefix-scorer.js'
import {type CtcVocabulary, createSpeller} from './vocabulary.js'

/** Progress of a hypothesis within a word. */
export interface WordState {
  /** Undefined if no word of the list starts with these letters. */
  readonly node: number | undefined
  /** Score of the word so far. */
  readonly given: number
  /** Rank of the previous word; -1 if there is none or it is not in the list. */
  readonly before: number
}

export interface WordListOptions {
  /** Weight of word frequency: the score decreases by this for each e-fold of the rank. */
  weight: number
  /** Score of a word that is not in the list, relative to that of the least frequent word of the list. */
  unknown: number
  /** Words that often follow each other. */
  pairs: readonly (readonly [string, string])[]
  /** Score added for each occurrence of such a pair. */
  pair: number
}

const root = 0

/**
 * Shallow fusion of a character model with a word list, most frequent words first. The score of a word decreases with
 * the logarithm of its rank (Zipf 1949) and increases if it often follows the previous word. An incomplete word has the
 * best score that it can still reach, so that no hypothesis is dropped too early. Source of the look-ahead: Ortmanns et
 * al. 1996, "Language-model look-ahead for large vocabulary speech recognition".
 */
export class WordList implements PrefixScorer<WordState> {
  readonly start: WordState = {node: root, given: 0, before: -1}
  readonly #size: number
  readonly #delimiter: number
  readonly #unknown: number
  /** The trie: node by `node * size + token`. */
  readonly #next = new Map<number, number>()
  /** By node: score of the word that ends there; -Infinity if there is none. */
  readonly #word = [-Infinity]
  /** By node: best score of all words with this prefix. */
  readonly #best = [-Infinity]
  /** By node: rank of the word that ends there; -1 if there is none. */
  readonly #rank = [-1]
  /** Second ranks by the first. */
  readonly #pairs = new Map<number, Set<number>>()
  readonly #pair: number

  constructor(words: readonly string[], vocabulary: CtcVocabulary, {weight, unknown, pairs, pair}: WordListOptions) {
    this.#size = vocabulary.texts.length
    this.#delimiter = vocabulary.delimiter ?? -1
    const spell = createSpeller(vocabulary)
    const score = (rank: number) => -weight * Math.log1p(rank)
    for (const [rank, word] of words.entries()) this.#insert(spell(word) ?? [], rank, score(rank))
    this.#unknown = score(words.length) + unknown
    this.#pair = pair
    const ranks = new Map(words.map((word, rank) => [word, rank]))
    for (const [first, second] of pairs) this.#join(ranks.get(first), ranks.get(second))
  }

  advance(state: WordState, token: number): {state: WordState; score: number} {
    const {node, given, before} = state
    if (token === this.#delimiter) {
      const word = node === root ? before : this.#rankOf(node)
      return {state: {...this.start, before: word}, score: this.close(state)}
    }
    const next = node === undefined ? undefined : this.#next.get(node * this.#size + token)
    const worth = next === undefined ? this.#unknown : this.#best[next]!
    return {state: {node: next, given: worth, before}, score: worth - given}
  }

  close({node, given, before}: WordState): number {
    if (node === root) return 0
    const rank = this.#rankOf(node)
    if (node === undefined || rank === -1) return this.#unknown - given
    const follows = this.#pairs.get(before)?.has(rank) === true
    return this.#word[node]! - given + (follows ? this.#pair : 0)
  }

  #rankOf(node: number | undefined): number {
    return node === undefined ? -1 : this.#rank[node]!
  }

  #join(first: number | undefined, second: number | undefined): void {
    if (first === undefined || second === undefined) return
    const seconds = this.#pairs.get(first) ?? new Set()
    this.#pairs.set(first, seconds.add(second))
  }

  #insert(tokens: readonly number[], rank: number, score: number): void {
    if (tokens.length === 0) return
    let node = root
    for (const token of tokens) {
      node = this.#child(node * this.#size + token)
      this.#best[node] = Math.max(this.#best[node]!, score)
    }
    if (this.#rank[node] !== -1) return
    this.#rank[node] = rank
    this.#word[node] = score
  }

  #child(key: number): number {
    const found = this.#next.get(key)
    if (found !== undefined) return found
    const node = this.#word.push(-Infinity) - 1
    this.#best.push(-Infinity)
    this.#rank.push(-1)
    this.#next.set(key, node)
    return node
  }
}
