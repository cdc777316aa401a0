import {follow, keyOf, type PhraseNode, type PhraseTrie} from './phrase-trie.js'

/** A token that starts or continues a phrase. */
export interface RaisedToken {
  readonly token: number
  /** Score in relation to tokens outside of all phrases. */
  readonly bonus: number
  /** True if it is the first token of a phrase. */
  readonly starts: boolean
}

/** Phrases that a text may have started. */
export interface BiasState {
  readonly nodes: readonly PhraseNode[]
  /** True if a word may start here without a space. */
  readonly atWordStart: boolean
  /** Bonus for an incomplete phrase so far. */
  readonly pending: number
  readonly raised: ReadonlyMap<number, RaisedToken>
  /** The states behind raised tokens, as far as they are known. */
  readonly next: Map<number, BiasState>
}

/**
 * Shallow fusion of phrases: tokens that continue a phrase from the start of a word get a bonus, which is withdrawn if
 * the phrase is not completed. Sources: He et al. 2019, "Streaming end-to-end speech recognition for mobile devices",
 * section on contextual biasing; the context graph of sherpa-onnx.
 */
export class PhraseBias {
  readonly start: BiasState
  readonly #trie: PhraseTrie
  readonly #strength: number
  readonly #endsInWord: (token: number) => boolean
  /** By node: bonus of its tokens since the start, or since the end of a shorter phrase. */
  readonly #worth = new Map<PhraseNode, number>()
  readonly #states = new Map<string, BiasState>()
  /** Outside of all phrases, at the start of a word and within one. */
  readonly #outside: {atWordStart: BiasState; inWord: BiasState}

  /** @param strength bonus per token; half for the first token of a phrase */
  constructor(trie: PhraseTrie, strength: number, endsInWord: (token: number) => boolean) {
    this.#trie = trie
    this.#strength = strength
    this.#endsInWord = endsInWord
    this.#rate([trie.bare, trie.spaced])
    this.#outside = {atWordStart: this.#state([], true), inWord: this.#state([], false)}
    this.start = this.#outside.atWordStart
  }

  /** Returns the state behind a token, and the change of the score. */
  advance(state: BiasState, token: number): {state: BiasState; score: number} {
    const raised = state.raised.get(token)
    if (raised === undefined) {
      const {inWord, atWordStart} = this.#outside
      return {state: this.#endsInWord(token) ? inWord : atWordStart, score: -state.pending}
    }
    const next = state.next.get(token) ?? this.#next(state, token)
    state.next.set(token, next)
    return {state: next, score: raised.bonus - state.pending}
  }

  #next(state: BiasState, token: number): BiasState {
    const reached = follow(this.#sources(state), token)
    const complete = reached.filter(({ends}) => ends)
    // The bonus of a complete phrase remains, even if a longer one is not completed.
    return this.#state(complete.length > 0 ? complete : reached, !this.#endsInWord(token))
  }

  #sources({nodes, atWordStart}: Pick<BiasState, 'nodes' | 'atWordStart'>): PhraseNode[] {
    return [...nodes, this.#trie.spaced, ...(atWordStart ? [this.#trie.bare] : [])]
  }

  #state(nodes: readonly PhraseNode[], atWordStart: boolean): BiasState {
    const key = `${keyOf(nodes)} ${atWordStart}`
    const known = this.#states.get(key)
    if (known !== undefined) return known
    const pending = Math.max(0, ...nodes.map((node) => (node.ends ? 0 : (this.#worth.get(node) as number))))
    const state = {nodes, atWordStart, pending, raised: this.#raised({nodes, atWordStart}), next: new Map()}
    this.#states.set(key, state)
    return state
  }

  #raised(state: Pick<BiasState, 'nodes' | 'atWordStart'>): Map<number, RaisedToken> {
    const raised = new Map<number, RaisedToken>()
    for (const {next} of this.#sources(state))
      for (const [token, node] of next) {
        const bonus = this.#worth.get(node) as number
        if (bonus > (raised.get(token)?.bonus ?? 0)) raised.set(token, {token, bonus, starts: node.depth === 1})
      }
    return raised
  }

  #rate(roots: readonly PhraseNode[]): void {
    const nodes = [...roots]
    for (const node of nodes) {
      const before = node.ends ? 0 : (this.#worth.get(node) ?? 0)
      const bonus = node.depth === 0 ? this.#strength / 2 : this.#strength
      for (const next of node.next.values()) this.#worth.set(next, before + bonus)
      nodes.push(...node.next.values())
    }
  }
}
