import {spell} from './hotword-trie.js'
import type {PrefixScorer} from './prefix-scorer.js'
import type {CtcVocabulary} from './vocabulary.js'

interface Node {
  next: Map<number, Node>
  /** Score of the word that ends here; -Infinity where none does. */
  word: number
  /** Best score of all words that begin so. */
  best: number
}

/** How far a hypothesis has come into a word: undefined where no known word begins so. */
export interface WordState {
  readonly node: Node | undefined
  /** What has been added for the word so far. */
  readonly given: number
}

export interface WordListOptions {
  /** How much frequent words are preferred: the score falls by so much for each e-fold in rank. */
  weight: number
  /** Score of a word that is not in the list, beside that of the rarest one that is. */
  unknown: number
}

/**
 * The words that a model of letters knows, most frequent first, as shallow fusion: a word's score falls with the
 * logarithm of its rank (Zipf 1949), and a word that is being spelt has the best score that it can still get, so that no
 * hypothesis is dropped too early. Source of the look-ahead: Ortmanns et al. 1996, "Language-model look-ahead for large
 * vocabulary speech recognition".
 */
export class WordList implements PrefixScorer<WordState> {
  readonly #root: Node = {next: new Map(), word: -Infinity, best: -Infinity}
  readonly #delimiter: number
  readonly #unknown: number

  constructor(words: readonly string[], vocabulary: CtcVocabulary, {weight, unknown}: WordListOptions) {
    this.#delimiter = vocabulary.delimiter ?? -1
    const score = (rank: number) => -weight * Math.log1p(rank)
    for (const [rank, word] of words.entries()) this.#insert(spell(word, vocabulary) ?? [], score(rank))
    this.#unknown = score(words.length) + unknown
    this.start = {node: this.#root, given: 0}
  }

  readonly start: WordState

  advance(state: WordState, token: number): {state: WordState; score: number} {
    if (token === this.#delimiter) return {state: this.start, score: this.close(state)}
    const node = state.node?.next.get(token)
    const given = node?.best ?? this.#unknown
    return {state: {node, given}, score: given - state.given}
  }

  close({node, given}: WordState): number {
    if (node === this.#root) return 0
    const reached = node === undefined || node.word === -Infinity ? this.#unknown : node.word
    return reached - given
  }

  #insert(tokens: readonly number[], score: number): void {
    if (tokens.length === 0) return
    let node = this.#root
    for (const token of tokens) {
      const next = node.next.get(token) ?? {next: new Map(), word: -Infinity, best: -Infinity}
      next.best = Math.max(next.best, score)
      node.next.set(token, next)
      node = next
    }
    node.word = Math.max(node.word, score)
  }
}
