import {SvcError} from '../../errors/index.js'
import type {TextVocabulary} from '../constraints/text-vocabulary.js'

/** The characters (or pieces) that a CTC model writes. */
export interface CtcVocabulary {
  /** Text of each id; the special ones are empty, and the one between words is a blank. */
  texts: readonly string[]
  /** Id of "nothing new", CTC's blank. */
  blank: number
  /** Id of the blank between words; undefined where words are not separated by a token. */
  delimiter: number | undefined
}

/** Tokens that stand for no sound. */
const special = new Set(['<pad>', '<s>', '</s>', '<unk>', '[PAD]', '[UNK]', '[CLS]', '[SEP]', '<blank>'])

/**
 * Reads `vocab.json`: ids by token.
 * @throws tokenizer_mismatch
 */
export function readCtcVocabulary(
  json: Readonly<Record<string, unknown>>,
  {file, blankToken, wordDelimiterToken}: {file: string; blankToken: string; wordDelimiterToken: string},
): CtcVocabulary {
  const fail = (reason: string) => new SvcError('tokenizer_mismatch', {file, reason})
  const ids = Object.entries(json)
  const tokens: string[] = []
  for (const [token, value] of ids) {
    const id = Number.isSafeInteger(value) ? (value as number) : -1
    if (id < 0 || id >= ids.length || tokens[id] !== undefined)
      throw fail(`the id of ${JSON.stringify(token)} must be a unique integer from 0 to ${ids.length - 1}`)
    tokens[id] = token
  }
  const blank = tokens.indexOf(blankToken)
  if (blank < 0) throw fail(`it has no blank token ${blankToken}, which CTC requires`)
  const delimiter = tokens.indexOf(wordDelimiterToken)
  return {
    texts: tokens.map((token, id) => {
      if (id === blank || special.has(token)) return ''
      // SentencePiece marks the beginning of a word.
      return id === delimiter ? ' ' : token.replaceAll('\u2581', ' ')
    }),
    blank,
    delimiter: delimiter < 0 ? undefined : delimiter,
  }
}

export const textOf = ({texts}: CtcVocabulary, tokens: readonly number[]): string =>
  tokens
    .map((token) => texts[token] ?? '')
    .join('')
    .replace(/ {2,}/g, ' ')
    .trim()

/** Returns a function that encodes a text, longest tokens first; its result is undefined if that is impossible. */
function createEncoder({texts}: CtcVocabulary): (text: string) => number[] | undefined {
  const ids = new Map(texts.map((text, id) => [text, id] as const).filter(([text]) => text !== ''))
  const maxLength = Math.max(0, ...Array.from(ids.keys(), (text) => text.length))
  return (text) => {
    const tokens: number[] = []
    for (let at = 0; at < text.length; ) {
      let length = Math.min(maxLength, text.length - at)
      let id = ids.get(text.slice(at, at + length))
      while (id === undefined && length > 1) id = ids.get(text.slice(at, at + --length))
      if (id === undefined) return undefined
      tokens.push(id)
      at += length
    }
    return tokens
  }
}

/** Returns a function that encodes a phrase in the case of the model. */
export function createSpeller(vocabulary: CtcVocabulary): (phrase: string) => number[] | undefined {
  const encode = createEncoder(vocabulary)
  return (phrase) => {
    // Word lists have tens of thousands of words without blanks.
    const written = /\s/u.test(phrase) ? phrase.trim().replace(/\s+/gu, ' ') : phrase
    return encode(written) ?? encode(written.toLowerCase()) ?? encode(written.toUpperCase())
  }
}

/** The tokens of the lines of a text that are not empty. A line that cannot be written has no tokens. */
export interface SpelledLines {
  /** Index of the first token of each line. */
  starts: Int32Array
  /** The tokens of all lines; -1 follows those of each line. */
  tokens: Int32Array
}

/**
 * Returns a function that encodes each line of a text as `createSpeller` encodes phrases. Lists of words have tens of
 * thousands of lines and are read at each start, so lines whose UTF-16 units are all tokens are encoded in one loop.
 */
export function lineSpeller(vocabulary: CtcVocabulary): (text: string) => SpelledLines {
  const spell = createSpeller(vocabulary)
  const byUnit = tokensByUnit(vocabulary)
  return (text) => {
    // A line has at most as many tokens as units, so its tokens are at the places of its units.
    const tokens = new Int32Array(text.length + 1).fill(-1)
    const starts = new Int32Array(text.length + 1)
    let lines = 0
    let [start, areTokens] = [0, true]
    for (let i = 0; i <= text.length; i++) {
      const unit = i === text.length ? newLine : text.charCodeAt(i)
      if (unit !== newLine) {
        const token = byUnit[unit] ?? -1
        tokens[i] = token
        areTokens &&= token !== -1
        continue
      }
      if (!areTokens) {
        tokens.fill(-1, start, i)
        const spelled = spell(text.slice(start, i)) ?? []
        if (spelled.length <= i - start) tokens.set(spelled, start)
      }
      if (i > start) starts[lines++] = start
      ;[start, areTokens] = [i + 1, true]
    }
    return {starts: starts.slice(0, lines), tokens}
  }
}

const newLine = 10

/** Tokens by UTF-16 unit; none if there are longer tokens, of which the longest would have to be found. */
function tokensByUnit({texts}: CtcVocabulary): Int32Array {
  const units = texts.some((text) => text.length > 1) ? [] : texts.map((text) => text.charCodeAt(0))
  const byUnit = new Int32Array(units.reduce((max, unit) => (unit > max ? unit : max), -1) + 1).fill(-1)
  for (const [id, unit] of units.entries()) if (unit >= 0) byUnit[unit] = id
  return byUnit
}

/** Reports which tokens a CTC model can write. A word never starts with the token between words. */
export function ctcText(vocabulary: CtcVocabulary): TextVocabulary {
  const {texts, blank, delimiter} = vocabulary
  const encode = createEncoder(vocabulary)
  const inWord = texts.map((text) => /[\p{L}\p{N}\p{M}'’]$/u.test(text))
  return {
    size: texts.length,
    isRequired: (token) => token === blank,
    encode: (text) => (delimiter !== undefined && /^ ./u.test(text) ? undefined : encode(text)),
    endsInWord: (token) => inWord[token] === true,
  }
}
