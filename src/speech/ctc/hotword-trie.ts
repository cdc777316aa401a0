import type {PrefixScorer} from './prefix-scorer.js'
import type {CtcVocabulary} from './vocabulary.js'

interface Node {
  next: Map<number, Node>
  /** True if a phrase ends here. */
  ends: boolean
}

/** Progress of a hypothesis within a hotword. */
export interface HotwordState {
  readonly node: Node | undefined
  /** Bonus for an incomplete phrase so far. */
  readonly pending: number
  /** True if the next token starts a word. */
  readonly wordStart: boolean
}

/**
 * Shallow fusion of hotwords: tokens that continue a phrase from the start of a word get a bonus, which is withdrawn if
 * the phrase is not completed. Source: He et al. 2019, "Streaming end-to-end speech recognition for mobile devices",
 * section on contextual biasing.
 */
export class HotwordTrie implements PrefixScorer<HotwordState> {
  readonly #root: Node = {next: new Map(), ends: false}
  readonly #strength: number
  readonly #delimiter: number | undefined

  constructor(phrases: readonly string[], vocabulary: CtcVocabulary, strength: number) {
    this.#strength = strength
    this.#delimiter = vocabulary.delimiter
    const spell = createSpeller(vocabulary)
    for (const phrase of phrases) this.#insert(spell(phrase))
  }

  readonly start: HotwordState = {node: undefined, pending: 0, wordStart: true}

  /** Returns the change of the score for one more token. */
  advance(state: HotwordState, token: number): {state: HotwordState; score: number} {
    const wordStart = token === this.#delimiter
    const from = state.node ?? (state.wordStart ? this.#root : undefined)
    const next = from?.next.get(token)
    if (next !== undefined) {
      const pending = state.pending + this.#strength
      // The bonus of a complete phrase remains, even if a longer one is not completed.
      return {state: {node: next, pending: next.ends ? 0 : pending, wordStart}, score: this.#strength}
    }
    const finished = state.node?.ends === true && (wordStart || this.#delimiter === undefined)
    return {state: {node: undefined, pending: 0, wordStart}, score: finished ? 0 : -state.pending}
  }

  /** Returns the bonus to withdraw at the end of the audio. */
  close(state: HotwordState): number {
    return -state.pending
  }

  #insert(tokens: readonly number[] | undefined): void {
    if (tokens === undefined || tokens.length === 0) return
    let node = this.#root
    for (const token of tokens) {
      const next: Node = node.next.get(token) ?? {next: new Map(), ends: false}
      node.next.set(token, next)
      node = next
    }
    node.ends = true
  }
}

/** Encodes phrases as tokens, longest tokens first, in the case of the model; undefined if that is impossible. */
export function createSpeller({texts}: CtcVocabulary): (phrase: string) => number[] | undefined {
  const ids = new Map(texts.map((text, id) => [text, id] as const).filter(([text]) => text !== ''))
  const longest = Math.max(0, ...Array.from(ids.keys(), (text) => text.length))
  return (phrase) => {
    const written = phrase.trim().replace(/\s+/gu, ' ')
    return (
      spellExactly(written, ids, longest) ??
      spellExactly(written.toLowerCase(), ids, longest) ??
      spellExactly(written.toUpperCase(), ids, longest)
    )
  }
}

function spellExactly(text: string, ids: ReadonlyMap<string, number>, longest: number): number[] | undefined {
  const tokens: number[] = []
  for (let at = 0; at < text.length; ) {
    let length = Math.min(longest, text.length - at)
    while (length > 0 && !ids.has(text.slice(at, at + length))) length--
    if (length === 0) return undefined
    tokens.push(ids.get(text.slice(at, at + length)) as number)
    at += length
  }
  return tokens
}
