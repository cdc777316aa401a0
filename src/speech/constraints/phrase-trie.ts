import type {TextVocabulary} from './text-vocabulary.js'

/** Tokens of a phrase up to here. */
export interface PhraseNode {
  readonly id: number
  /** Number of tokens. */
  readonly depth: number
  readonly next: Map<number, PhraseNode>
  /** True if a phrase ends here. */
  ends: boolean
}

/** A spelling of a phrase. */
export interface Spelling {
  /** True if it starts with a space, so that it can follow another word. */
  isSpaced: boolean
  tokens: readonly number[]
}

/**
 * Spellings of a phrase: as specified and capitalised, with and without a space before it. Other cases are used only if
 * the vocabulary cannot write any of these.
 */
export function spellingsOf(phrase: string, {encode}: TextVocabulary): Spelling[] {
  const text = phrase.trim().replace(/\s+/gu, ' ')
  const spell = (written: string): Spelling[] =>
    ['', ' '].flatMap((space) => {
      const tokens = encode(space + written)
      return tokens === undefined || tokens.length === 0 ? [] : [{isSpaced: space !== '', tokens}]
    })
  const capitalised = text.replace(/^./u, (first) => first.toUpperCase())
  const usual = [...new Set([text, capitalised])].flatMap(spell)
  if (usual.length > 0) return usual
  const lower = spell(text.toLowerCase())
  return lower.length > 0 ? lower : spell(text.toUpperCase())
}

/** Spellings of phrases as two tries: `bare` of those without a space before them, `spaced` of the others. */
export class PhraseTrie {
  #nodes = 0
  readonly bare = this.#node(0)
  readonly spaced = this.#node(0)

  add({isSpaced, tokens}: Spelling): void {
    let node = isSpaced ? this.spaced : this.bare
    for (const token of tokens) {
      const next: PhraseNode = node.next.get(token) ?? this.#node(node.depth + 1)
      node.next.set(token, next)
      node = next
    }
    node.ends = true
  }

  #node(depth: number): PhraseNode {
    return {id: this.#nodes++, depth, next: new Map(), ends: false}
  }
}

/** The nodes behind the token from any of these. */
export const follow = (nodes: readonly PhraseNode[], token: number): PhraseNode[] =>
  nodes.flatMap((node) => node.next.get(token) ?? [])

/** Identifies a set of nodes. */
export const keyOf = (nodes: readonly PhraseNode[]): string =>
  nodes
    .map(({id}) => id)
    .sort((a, b) => a - b)
    .join()
