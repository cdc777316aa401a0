import * as library from '@huggingface/tokenizers'
import {literalPattern} from '../errors/index.js'
import {wordClass} from './added-tokens.js'
import {inByteAlphabet} from './vocabulary.js'

/** `pre_tokenizer` of `tokenizer.json`. */
export interface PreTokenizerJson {
  type?: unknown
  [key: string]: unknown
}

/** A class of the library that its types omit; it translates regular expressions of Oniguruma. */
const {SplitPreTokenizer} = library as unknown as {
  SplitPreTokenizer: new (config: {pattern: unknown}) => {pattern: RegExp | null}
}

/**
 * Splits normalised text into words, which are encoded separately. The library has these, too, but without several of
 * their options and with other classes of characters.
 * @param isFirst whether the text is the beginning of the input
 */
export type PreTokenizer = (text: string, isFirst: boolean) => readonly string[]

/** A feature of a tokenizer that would yield other tokens without an error if it was ignored. */
export class UnsupportedFeature extends Error {}

/** @throws UnsupportedFeature */
export function createPreTokenizer(json: PreTokenizerJson | null | undefined): PreTokenizer {
  if (json === null || json === undefined) return (text) => [text]
  const kind = Object.hasOwn(kinds, String(json.type)) ? kinds[String(json.type)] : undefined
  if (kind === undefined) throw new UnsupportedFeature(`the pre-tokenizer ${String(json.type)}`)
  return kind(json)
}

const punctuation = /[\p{P}!-/:-@[-`{-~]/gu
const number = /\p{N}/gu
const gpt2 =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu
const wordOrSymbols = new RegExp(`[${wordClass}]+|[^${wordClass}\\p{White_Space}]+`, 'gu')
const notSpace = /\P{White_Space}+/gu

const kinds: Readonly<Record<string, (json: PreTokenizerJson) => PreTokenizer>> = {
  Sequence({pretokenizers}) {
    const parts = ((pretokenizers ?? []) as PreTokenizerJson[]).map(createPreTokenizer)
    return (text, isFirst) =>
      parts.reduce<readonly string[]>(
        (words, part) => words.flatMap((word, i) => part(word, isFirst && i === 0)),
        [text],
      )
  },
  ByteLevel({add_prefix_space: prefixes, use_regex: splits = true}) {
    return (written) => {
      const text = prefixes === true && !written.startsWith(' ') ? ` ${written}` : written
      return (splits ? (text.match(gpt2) ?? []) : [text]).map(inByteAlphabet)
    }
  },
  Metaspace({replacement = '▁', prepend_scheme: scheme, add_prefix_space: prefixes, split = true}) {
    const mark = String(replacement)
    const prepends = scheme ?? (prefixes === false ? 'never' : 'always')
    const pattern = new RegExp(literalPattern(mark), 'gu')
    return (text, isFirst) => {
      const marked = text.replaceAll(' ', mark)
      const needsMark = prepends === 'always' || (prepends === 'first' && isFirst)
      const all = needsMark && !marked.startsWith(mark) ? mark + marked : marked
      return split === false ? [all] : splitText(all, pattern, 'MergedWithNext')
    }
  },
  Split({pattern: declared, behavior = 'Isolated', invert = false}) {
    const {pattern} = new SplitPreTokenizer({pattern: declared})
    if (pattern === null)
      throw new UnsupportedFeature(`the pattern ${JSON.stringify(declared)} of the pre-tokenizer Split`)
    const behaviour = behaviourOf(behavior)
    return (text) => splitText(text, pattern, behaviour, invert === true)
  },
  Punctuation: ({behavior = 'Isolated'}) => {
    const behaviour = behaviourOf(behavior)
    return (text) => splitText(text, punctuation, behaviour)
  },
  Digits: ({individual_digits: single}) => {
    const behaviour = single === true ? 'Isolated' : 'Contiguous'
    return (text) => splitText(text, number, behaviour)
  },
  Whitespace: () => (text) => text.match(wordOrSymbols) ?? [],
  WhitespaceSplit: () => (text) => text.match(notSpace) ?? [],
  BertPreTokenizer: () => (text) =>
    (text.match(notSpace) ?? []).flatMap((word) => splitText(word, punctuation, 'Isolated')),
  CharDelimiterSplit: ({delimiter}) => {
    const pattern = new RegExp(escapedCharacter(String(delimiter)), 'gu')
    return (text) => splitText(text, pattern, 'Removed')
  },
  FixedLength: ({length}) => {
    const pattern = new RegExp(`[^]{1,${Number(length)}}`, 'gu')
    return (text) => text.match(pattern) ?? []
  },
}

const escapedCharacter = (character: string) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`

/** What happens to the matches of a pattern. */
type Behaviour = 'Removed' | 'Isolated' | 'MergedWithPrevious' | 'MergedWithNext' | 'Contiguous'

const behaviours: readonly unknown[] = ['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous']

function behaviourOf(name: unknown): Behaviour {
  if (behaviours.includes(name)) return name as Behaviour
  throw new UnsupportedFeature(`the behaviour ${JSON.stringify(name)} of a pre-tokenizer`)
}

/** Splits a text at the matches of a pattern; with `invert`, the texts between the matches are the matches. */
export function splitText(text: string, pattern: RegExp, behaviour: Behaviour, invert = false): string[] {
  const parts: Part[] = []
  let at = 0
  for (const {0: found, index} of text.matchAll(pattern)) {
    if (at < index) parts.push({text: text.slice(at, index), isMatch: invert})
    parts.push({text: found, isMatch: !invert})
    at = index + found.length
  }
  if (at < text.length) parts.push({text: text.slice(at), isMatch: invert})
  return joined(parts, behaviour).filter((part) => part !== '')
}

interface Part {
  text: string
  isMatch: boolean
}

function joined(parts: readonly Part[], behaviour: Behaviour): string[] {
  switch (behaviour) {
    case 'Isolated':
      return parts.map(({text}) => text)
    case 'Removed':
      return parts.filter(({isMatch}) => !isMatch).map(({text}) => text)
    case 'Contiguous':
      return merged(
        parts,
        (last, next) => last.isMatch === next.isMatch,
        (last, next) => last + next,
      )
    case 'MergedWithPrevious':
      return merged(
        parts,
        (last, next) => next.isMatch && !last.isMatch,
        (last, next) => last + next,
      )
    case 'MergedWithNext':
      return merged(
        [...parts].reverse(),
        (last, next) => next.isMatch && !last.isMatch,
        (last, next) => next + last,
      ).reverse()
  }
}

/** Joins a part to the previous one if the two belong together. */
function merged(
  parts: readonly Part[],
  belong: (last: Part, next: Part) => boolean,
  join: (last: string, next: string) => string,
): string[] {
  const words: string[] = []
  let last: Part | undefined
  for (const part of parts) {
    const word = words.at(-1)
    if (last !== undefined && word !== undefined && belong(last, part)) words[words.length - 1] = join(word, part.text)
    else words.push(part.text)
    last = part
  }
  return words
}
