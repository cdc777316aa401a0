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
  const longest = Math.max(0, ...Array.from(ids.keys(), (text) => text.length))
  return (text) => {
    const tokens: number[] = []
    for (let at = 0; at < text.length; ) {
      let length = Math.min(longest, text.length - at)
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
