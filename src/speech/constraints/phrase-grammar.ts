import {follow, keyOf, type PhraseNode, type PhraseTrie} from './phrase-trie.js'

/** What may follow a text. */
export interface GrammarState {
  /** Positions in the phrases that the text may have reached. */
  readonly nodes: readonly PhraseNode[]
  /** True if the text is complete. */
  readonly accepts: boolean
  /** True if a phrase ends here, so that a separator may follow. */
  readonly isWord: boolean
  /** Tokens that may follow, apart from the end of the text. */
  readonly allowed: readonly number[]
  /** The states behind these tokens, as far as they are known. */
  readonly next: Map<number, GrammarState>
}

/** Tokens between phrases. */
export interface Separators {
  space: readonly number[]
  /** Punctuation. */
  marks: readonly number[]
}

/**
 * Accepts sequences of phrases with a space, a comma or a period between and after them. States are created when a text
 * first reaches them, and are shared by all hypotheses.
 */
export class PhraseGrammar {
  readonly start: GrammarState
  readonly #trie: PhraseTrie
  readonly #separators: Separators
  readonly #states = new Map<string, GrammarState>()

  constructor(trie: PhraseTrie, separators: Separators) {
    this.#trie = trie
    this.#separators = separators
    this.start = this.#state([trie.bare, trie.spaced], {accepts: true, isWord: false})
  }

  /** Returns the state behind a token; undefined if the token is not allowed. */
  advance(state: GrammarState, token: number): GrammarState | undefined {
    const known = state.next.get(token)
    if (known !== undefined || !state.allowed.includes(token)) return known
    const next = this.#next(state, token)
    state.next.set(token, next)
    return next
  }

  /** Number of tokens of the longest complete text at the start of these; tokens that `skips` selects are not text. */
  completeLength(tokens: readonly number[], skips: (token: number) => boolean): number {
    let state: GrammarState | undefined = this.start
    let complete = 0
    for (const [i, token] of tokens.entries()) {
      if (!skips(token)) state = this.advance(state, token)
      if (state === undefined) return complete
      if (state.accepts) complete = i + 1
    }
    return complete
  }

  #next({nodes, isWord: separable}: GrammarState, token: number): GrammarState {
    const {bare, spaced} = this.#trie
    const {space, marks} = this.#separators
    const reached = follow(nodes, token)
    const isWord = reached.some(({ends}) => ends)
    if (isWord) reached.push(spaced)
    const isSpace = space.includes(token)
    const separates = separable && (isSpace || marks.includes(token))
    if (separates) reached.push(bare, ...(isSpace ? [] : [spaced]))
    return this.#state([...new Set(reached)], {accepts: isWord || separates, isWord})
  }

  #state(nodes: readonly PhraseNode[], {accepts, isWord}: Pick<GrammarState, 'accepts' | 'isWord'>): GrammarState {
    const key = `${keyOf(nodes)} ${accepts} ${isWord}`
    const {space, marks} = this.#separators
    const known = this.#states.get(key)
    if (known !== undefined) return known
    const allowed = [...nodes.flatMap(({next}) => [...next.keys()]), ...(isWord ? [...space, ...marks] : [])]
    const state = {nodes, accepts, isWord, allowed: [...new Set(allowed)], next: new Map()}
    this.#states.set(key, state)
    return state
  }
}
