import {literalPattern} from '../errors/index.js'
import {specialTokens} from './special-tokens.js'

/** A token that is found in the text before the model encodes what is between such tokens. */
export interface AddedToken {
  id: number
  content: string
  /** Whether it is not a part of a longer word. */
  single_word: boolean
  /** Whether it includes the white space before or after it. */
  lstrip: boolean
  rstrip: boolean
  /** Whether it is found in the normalised text. */
  normalized: boolean
  special: boolean
}

/** The parts of `tokenizer.json` that name added tokens. */
interface AddedTokensJson {
  model?: {vocab?: unknown} | null
  added_tokens?: readonly object[]
}

/**
 * The added tokens of a tokenizer, as in transformers. First are those of `tokenizer.json`, then those of
 * `added_tokens_decoder` in its settings, which may also change the former. Last are the special tokens that its
 * settings name, as far as they have an id.
 * @param idOf id of a name in the vocabulary of the model
 */
export function addedTokens(
  json: AddedTokensJson,
  config: Readonly<Record<string, unknown>>,
  idOf: (name: string) => number | undefined,
): AddedToken[] {
  const tokens = new Map<string, AddedToken>()
  // The native library uses the id in the vocabulary of the model, if there is one.
  for (const token of (json.added_tokens ?? []) as Partial<AddedToken>[])
    add(tokens, {...token, ...idIn(idOf, token.content)})
  const declared = Object.entries((config.added_tokens_decoder ?? {}) as Readonly<Record<string, object>>)
  const taken = new Map([...tokens.values()].map(({id, content}) => [id, content]))
  for (const [key, token] of declared.map(([id, each]) => [Number(id), each] as const).sort(([a], [b]) => a - b)) {
    const {content = ''} = token as Partial<AddedToken>
    const id = tokens.get(content)?.id ?? idOf(content) ?? key
    const other = taken.get(id)
    if (other !== undefined && other !== content)
      throw new Error(`its settings give the id ${id} of ${JSON.stringify(other)} to ${JSON.stringify(content)}`)
    add(tokens, {...token, id})
  }
  for (const content of Object.values(specialTokens(config)).flat()) {
    const id = tokens.get(content)?.id ?? idOf(content)
    if (id !== undefined) add(tokens, {...tokens.get(content), id, content, special: true})
  }
  return [...tokens.values()]
}

function idIn(idOf: (name: string) => number | undefined, content: unknown): {id?: number} {
  const id = typeof content === 'string' ? idOf(content) : undefined
  return id === undefined ? {} : {id}
}

function add(tokens: Map<string, AddedToken>, token: Partial<AddedToken>): void {
  const {id, content, special = false} = token
  if (!Number.isSafeInteger(id) || typeof content !== 'string') return
  const {single_word = false, lstrip = false, rstrip = false, normalized = !special} = token
  tokens.set(content, {id: id as number, content, single_word, lstrip, rstrip, normalized, special})
}

/** The class of the characters of words in the regular expressions of the native library, without brackets. */
export const wordClass = String.raw`\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}`

const wordCharacter = new RegExp(`[${wordClass}]`, 'u')
const space = /\p{White_Space}/u

/** Splits a text into added tokens and the texts between them. */
export type TokenSplitter = (text: string) => (string | AddedToken)[]

/**
 * Finds added tokens, the longest one at each position, from left to right.
 * @param texts the text of each token
 */
export function tokenSplitter(texts: readonly (readonly [text: string, token: AddedToken])[]): TokenSplitter {
  const tokens = new Map([...texts].reverse().filter(([text]) => text !== ''))
  if (tokens.size === 0) return (text) => [text]
  const longestFirst = [...tokens.keys()].sort((a, b) => b.length - a.length)
  const any = new RegExp(longestFirst.map(literalPattern).join('|'), 'gu')
  return (text) => {
    const parts: (string | AddedToken)[] = []
    let from = 0
    for (const {0: found, index} of text.matchAll(any)) {
      const token = tokens.get(found) as AddedToken
      const end = index + found.length
      if (token.single_word && (isWord(characterBefore(text, index)) || isWord(characterAt(text, end)))) continue
      let start = index
      while (token.lstrip && start > from && space.test(text[start - 1] as string)) start--
      if (from < start) parts.push(text.slice(from, start))
      parts.push(token)
      from = end
      while (token.rstrip && from < text.length && space.test(text[from] as string)) from++
    }
    if (from < text.length) parts.push(text.slice(from))
    return parts
  }
}

const isWord = (character: string): boolean => wordCharacter.test(character)

const characterAt = (text: string, at: number): string => String.fromCodePoint(text.codePointAt(at) ?? 0)

function characterBefore(text: string, at: number): string {
  const last = text.slice(Math.max(0, at - 2), at)
  return [...last].at(-1) ?? ''
}
