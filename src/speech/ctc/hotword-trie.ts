import type {PrefixScorer} from './prefix-scorer.js'
import type {CtcVocabulary} from './vocabulary.js'

interface Node {
  next: Map<number, Node>
  /** Whether a phrase ends here. */
  ends: boolean
}

/** How far a hypothesis has come into a hotword. */
export interface HotwordState {
  readonly node: Node | undefined
  /** What was added for a phrase that is not complete yet. */
  readonly pending: number
  /** Whether a word begins at the next token. */
  readonly wordStart: boolean
}

/**
 * Shallow fusion of hotwords: each token that goes on with a phrase, from the beginning of a word, is made likelier,
 * and what was added is taken back where the phrase is not finished. Source of the method: He et al. 2019, "Streaming
 * end-to-end speech recognition for mobile devices", section on contextual biasing.
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

  /** What happens to the score of a hypothesis that reads one more token. */
  advance(state: HotwordState, token: number): {state: HotwordState; score: number} {
    const wordStart = token === this.#delimiter
    const from = state.node ?? (state.wordStart ? this.#root : undefined)
    const next = from?.next.get(token)
    if (next !== undefined) {
      const pending = state.pending + this.#strength
      // The score of a complete phrase stays, also when a longer one is not finished.
      return {state: {node: next, pending: next.ends ? 0 : pending, wordStart}, score: this.#strength}
    }
    const finished = state.node?.ends === true && (wordStart || this.#delimiter === undefined)
    return {state: {node: undefined, pending: 0, wordStart}, score: finished ? 0 : -state.pending}
  }

  /** What is taken back at the end of the sound. */
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

/**
 * Writes phrases in tokens: longest pieces first, in the case that the model writes; undefined where it cannot.
 */
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
