import type {PrefixScorer} from './prefix-scorer.js'
import {type CtcVocabulary, lineSpeller, type SpelledLines} from './vocabulary.js'

/** The words that begin with the same tokens. */
interface WordNode {
  readonly token: number
  readonly depth: number
  /** Best rank of a word with this prefix. */
  readonly best: number
  /** Rank of the word that ends here; -1 if there is none. */
  rank: number
  /** First and last rank of the list of the longer words, until children are made from it; -1 if it is empty. */
  first: number
  last: number
  child: WordNode | undefined
  readonly sibling: WordNode | undefined
}

/** Progress of a hypothesis within a word. */
export interface WordState {
  /** Undefined if no word of the list starts with these letters. */
  readonly node: WordNode | undefined
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
  /** Words that often follow each other: a pair per line, separated by a blank. */
  pairs: string
  /** Score added for each occurrence of such a pair. */
  pair: number
}

/**
 * Shallow fusion of a character model with a word list, most frequent words first. The score of a word decreases with
 * the logarithm of its rank (Zipf 1949) and increases if it often follows the previous word. An incomplete word has the
 * best score that it can still reach, so that no hypothesis is dropped too early. Source of the look-ahead: Ortmanns et
 * al. 1996, "Language-model look-ahead for large vocabulary speech recognition".
 */
export class WordList implements PrefixScorer<WordState> {
  readonly start: WordState
  readonly #delimiter: number
  readonly #unknown: number
  readonly #trie: WordTrie
  /** Score of a word by its rank. */
  readonly #score: (rank: number) => number
  readonly #pairs: WordTrie
  readonly #pair: number

  /** @param words a word per line */
  constructor(words: string, vocabulary: CtcVocabulary, {weight, unknown, pairs, pair}: WordListOptions) {
    this.#delimiter = vocabulary.delimiter ?? -1
    const spell = lineSpeller(vocabulary)
    this.#trie = new WordTrie(spell(words))
    this.#pairs = new WordTrie(spell(pairs))
    this.start = {node: this.#trie.root, given: 0, before: -1}
    this.#score = (rank) => -weight * Math.log1p(rank)
    this.#unknown = this.#score(this.#trie.words) + unknown
    this.#pair = pair
  }

  advance(state: WordState, token: number): {state: WordState; score: number} {
    const {node, given, before} = state
    if (token === this.#delimiter) {
      const word = node === this.#trie.root ? before : this.#trie.rankOf(node)
      return {state: {...this.start, before: word}, score: this.close(state)}
    }
    const next = node && this.#trie.childOf(node, token)
    const worth = next === undefined ? this.#unknown : this.#score(next.best)
    return {state: {node: next, given: worth, before}, score: worth - given}
  }

  close({node, given, before}: WordState): number {
    if (node === this.#trie.root) return 0
    const rank = this.#trie.rankOf(node)
    if (rank === -1) return this.#unknown - given
    return this.#score(rank) - given + (this.#arePair(before, rank) ? this.#pair : 0)
  }

  #arePair(first: number, second: number): boolean {
    if (first === -1) return false
    const {root} = this.#pairs
    const between = this.#trie.follow(first, root, this.#pairs)
    const node = between && this.#pairs.childOf(between, this.#delimiter)
    return this.#pairs.rankOf(node && this.#trie.follow(second, node, this.#pairs)) !== -1
  }
}

/**
 * Words as a tree of tokens. A search visits few of the words of a list, so the children of a node are made when they are
 * first needed. Until then, the node has a linked list of its words, in the order of their ranks.
 */
class WordTrie {
  readonly root: WordNode = nodeOf(-1, 0, -1, undefined)
  readonly #words: SpelledLines
  /** By rank: the next word in the list of the same node; -1 at the end. */
  readonly #next: Int32Array

  constructor(words: SpelledLines) {
    this.#words = words
    this.#next = new Int32Array(words.starts.length)
    for (let rank = 0; rank < words.starts.length; rank++)
      if (this.#tokenOf(rank, 0) !== -1) this.#append(this.root, rank)
  }

  /** Number of words, with those that cannot be spelled. */
  get words(): number {
    return this.#words.starts.length
  }

  /** The node of another tree that the tokens of a word of this one lead to; undefined if there is none. */
  follow(rank: number, from: WordNode, tree: WordTrie): WordNode | undefined {
    let node: WordNode | undefined = from
    for (let place = 0; node !== undefined && this.#tokenOf(rank, place) !== -1; place++)
      node = tree.childOf(node, this.#tokenOf(rank, place))
    return node
  }

  childOf(node: WordNode, token: number): WordNode | undefined {
    if (node.first !== -1) this.#expand(node)
    let child = node.child
    while (child !== undefined && child.token !== token) child = child.sibling
    return child
  }

  /** Rank of the word that ends at a node; -1 if there is none. */
  rankOf(node: WordNode | undefined): number {
    if (node === undefined) return -1
    if (node.first !== -1) this.#expand(node)
    return node.rank
  }

  /** A token of a word; -1 after its end. */
  #tokenOf(rank: number, place: number): number {
    return this.#words.tokens[this.#words.starts[rank]! + place]!
  }

  /** Moves the words of a node to its children. */
  #expand(node: WordNode): void {
    const children = new Map<number, WordNode>()
    for (let rank = node.first, next = -1; rank !== -1; rank = next) {
      next = this.#next[rank]!
      const token = this.#tokenOf(rank, node.depth)
      if (token === -1) {
        if (node.rank === -1) node.rank = rank
        continue
      }
      let child = children.get(token)
      if (child === undefined) {
        child = nodeOf(token, node.depth + 1, rank, node.child)
        node.child = child
        children.set(token, child)
      }
      this.#append(child, rank)
    }
    node.first = -1
  }

  #append(node: WordNode, rank: number): void {
    if (node.first === -1) node.first = rank
    else this.#next[node.last] = rank
    node.last = rank
    this.#next[rank] = -1
  }
}

const nodeOf = (token: number, depth: number, best: number, sibling: WordNode | undefined): WordNode => ({
  token,
  depth,
  best,
  rank: -1,
  first: -1,
  last: -1,
  child: undefined,
  sibling,
})
