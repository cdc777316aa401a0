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
  readonly #delimiter: number
  readonly #unknown: number
  readonly #trie = new Trie()
  /** Score of a word by its rank. */
  readonly #score: (rank: number) => number
  /** Second ranks by the first. */
  readonly #pairs = new Map<number, Set<number>>()
  readonly #pair: number

  constructor(words: Iterable<string>, vocabulary: CtcVocabulary, {weight, unknown, pairs, pair}: WordListOptions) {
    this.#delimiter = vocabulary.delimiter ?? -1
    const spell = createSpeller(vocabulary)
    this.#score = (rank) => -weight * Math.log1p(rank)
    let rank = 0
    for (const word of words) this.#insert(spell(word) ?? [], rank++)
    this.#unknown = this.#score(rank) + unknown
    this.#pair = pair
    for (const [first, second] of pairs) this.#join(this.#find(spell(first)), this.#find(spell(second)))
  }

  advance(state: WordState, token: number): {state: WordState; score: number} {
    const {node, given, before} = state
    if (token === this.#delimiter) {
      const word = node === root ? before : this.#rankOf(node)
      return {state: {...this.start, before: word}, score: this.close(state)}
    }
    const next = node === undefined ? undefined : this.#trie.childOf(node, token)
    const worth = next === undefined ? this.#unknown : this.#trie.best[next]!
    return {state: {node: next, given: worth, before}, score: worth - given}
  }

  close({node, given, before}: WordState): number {
    if (node === root) return 0
    const rank = this.#rankOf(node)
    if (node === undefined || rank === -1) return this.#unknown - given
    const follows = this.#pairs.get(before)?.has(rank) === true
    return this.#score(rank) - given + (follows ? this.#pair : 0)
  }

  #rankOf(node: number | undefined): number {
    return node === undefined ? -1 : this.#trie.rank[node]!
  }

  /** Rank of a word; -1 if it is not in the list. */
  #find(tokens: readonly number[] | undefined): number {
    let node: number | undefined = tokens === undefined ? undefined : root
    for (const token of tokens ?? []) node = node === undefined ? undefined : this.#trie.childOf(node, token)
    return this.#rankOf(node)
  }

  #join(first: number, second: number): void {
    if (first === -1 || second === -1) return
    const seconds = this.#pairs.get(first) ?? new Set()
    this.#pairs.set(first, seconds.add(second))
  }

  #insert(tokens: readonly number[], rank: number): void {
    if (tokens.length === 0) return
    const score = this.#score(rank)
    let node = root
    for (const token of tokens) {
      node = this.#trie.childOf(node, token) ?? this.#trie.add(node, token)
      if (score > this.#trie.best[node]!) this.#trie.best[node] = score
    }
    if (this.#trie.rank[node] === -1) this.#trie.rank[node] = rank
  }
}

/**
 * The words as a tree of tokens. Children are linked lists in arrays outside of the heap. The heap is small in the
 * thread of a model, so objects for each node would be collected repeatedly while they are made.
 */
class Trie {
  #size = 1
  /** By node: its token, its first child and its next sibling; 0 if there is none, because the root is neither. */
  #token = new Int32Array(1 << 16)
  #child = new Int32Array(1 << 16)
  #sibling = new Int32Array(1 << 16)
  /** By node: best score of all words with this prefix. */
  best = new Float64Array(1 << 16)
  /** By node: rank of the word that ends there; -1 if there is none. */
  rank = new Int32Array(1 << 16)

  constructor() {
    this.rank[root] = -1
  }

  childOf(node: number, token: number): number | undefined {
    let child = this.#child[node]!
    while (child !== 0 && this.#token[child] !== token) child = this.#sibling[child]!
    return child === 0 ? undefined : child
  }

  add(parent: number, token: number): number {
    if (this.#size === this.rank.length) this.#grow()
    const node = this.#size++
    this.#token[node] = token
    this.#sibling[node] = this.#child[parent]!
    this.#child[parent] = node
    this.best[node] = -Infinity
    this.rank[node] = -1
    return node
  }

  #grow(): void {
    this.#token = doubled(this.#token)
    this.#child = doubled(this.#child)
    this.#sibling = doubled(this.#sibling)
    this.rank = doubled(this.rank)
    const {best} = this
    this.best = new Float64Array(2 * best.length)
    this.best.set(best)
  }
}

function doubled(values: Int32Array): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(2 * values.length)
  longer.set(values)
  return longer
}
