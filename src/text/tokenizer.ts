import {Tokenizer as HuggingFaceTokenizer} from '@huggingface/tokenizers'
import {SvcError} from '../errors/index.js'
import {mergedPairs, type Pairs, partsOf} from './merges.js'

export interface EncodeOptions {
  /** Adds the tokens that the model expects around a text, such as the beginning-of-text token. */
  special: boolean
  /** Stops where the text has more tokens than that. */
  most?: number
  /** Looked at now and then: what it throws ends the work. */
  check?: () => void
}

/** A text that has more tokens than were wanted. */
export class TooManyTokens extends Error {}

export interface Tokenizer {
  /** @throws TooManyTokens with `most`; what `check` throws */
  encode(text: string, options: EncodeOptions): number[]
  /** A text of a person, written so that `encode` finds no special token in it: its characters alone. */
  guarded(text: string): string
  /** Special tokens are left out. */
  decode(tokens: readonly number[]): string
  id(token: string): number | undefined
  /** The bytes that a token stands for; a special token stands for its name. */
  bytes(token: number): Buffer
  readonly specials: readonly string[]
  /** Bytes of the longest token that is not special; found by a look at all of them. */
  readonly longestToken: number
  /** The beginning-of-text and end-of-text tokens that the tokenizer's configuration names. */
  readonly bos?: string
  readonly eos?: string
}

/**
 * A tokenizer from what `tokenizer.json` and `tokenizer_config.json` hold; the latter names the special tokens.
 * @param file where the first came from, for errors
 * @throws model_file_invalid
 */
export function createTokenizer(
  json: TokenizerJson,
  config: Readonly<Record<string, unknown>>,
  file: string,
): Tokenizer {
  const inner = load(file, json, config)
  const byteLevel = usesByteAlphabet(json)
  const bos = tokenText(config.bos_token)
  const eos = tokenText(config.eos_token)
  const specials = specialTokens(json)
  const isSpecial = new Set(specials)
  const budget = boundWork(inner, {merges: mergedPairs(json.model), isSpecial, byteLevel})
  let guarded: ((text: string) => string) | undefined
  return {
    encode: (text, {special, ...bounds}) => budget(bounds, () => inner.encode(text, {add_special_tokens: special}).ids),
    guarded(text) {
      guarded ??= guard(specials)
      return guarded(text)
    },
    decode: (tokens) =>
      tokens.length === 0
        ? ''
        : inner.decode(tokens as number[], {skip_special_tokens: true, clean_up_tokenization_spaces: false}),
    id: (token) => inner.token_to_id(token),
    bytes: (token) => tokenBytes(inner.id_to_token(token) ?? '', byteLevel),
    specials,
    get longestToken() {
      return longestToken(inner, isSpecial, byteLevel)
    },
    ...(bos === undefined ? {} : {bos}),
    ...(eos === undefined ? {} : {eos}),
  }
}

/** Stands where a special token is broken: a character that no text may hold. */
const seam = '\uFDD0'

/** The longest run of characters that is merged in one go: it takes time that nothing can cut short. */
const longestRun = 65_536
/** Words between two looks at whether the work is still wanted. */
const wordsPerBatch = 256

type Bounds = Omit<EncodeOptions, 'special'>

interface Vocabulary {
  merges: Pairs | undefined
  isSpecial: ReadonlySet<string>
  byteLevel: boolean
}

/**
 * Has the library do its work word by word, and count: words are cut where no merge of the vocabulary can reach across,
 * which gives the same tokens, and mostly words that it remembers.
 */
function boundWork({model}: HuggingFaceTokenizer, {merges, isSpecial, byteLevel}: Vocabulary) {
  if (model === null) return <T>(_bounds: Bounds, work: () => T) => work()
  const seamWritten = byteLevel ? inByteAlphabet(seam) : seam
  const encode = model.encode.bind(model) as (words: string[]) => string[]
  let bounds: Bounds = {}
  let tokens = 0
  const encodeBatch = (words: string[]): string[] => {
    bounds.check?.()
    const found = encode(words)
    tokens += found.length
    if (tokens > (bounds.most ?? Number.POSITIVE_INFINITY)) throw new TooManyTokens()
    return found
  }
  const cut = (piece: string): readonly string[] => {
    if (piece.includes(seamWritten)) return piece.split(seamWritten).flatMap(cut)
    return isSpecial.has(piece) ? [...piece] : partsOf(piece, merges)
  }
  model.encode = (pieces: readonly string[]) => {
    const found: string[][] = []
    let batch: string[] = []
    for (const piece of pieces)
      for (const word of cut(piece)) {
        requireShort(word)
        batch.push(word)
        if (batch.length < wordsPerBatch) continue
        found.push(encodeBatch(batch))
        batch = []
      }
    found.push(encodeBatch(batch))
    return found.flat()
  }
  return <T>(wanted: Bounds, work: () => T): T => {
    bounds = wanted
    tokens = 0
    return work()
  }
}

function requireShort({length}: string): void {
  if (length > longestRun)
    throw new SvcError('bad_request', {
      reason: `the prompt has ${length} characters without a word break; at most ${longestRun} can be read`,
    })
}

/**
 * Breaks special tokens in what a person has written, in two: also where one could come into being with what a template
 * writes around it.
 */
function guard(specials: readonly string[]): (text: string) => string {
  const names = specials.filter((special) => special.length > 1)
  if (names.length === 0) return (text) => text
  const starts = names.map((special) => special.slice(0, -1))
  const ends = names.map((special) => special.slice(1))
  const special = new RegExp(`(?=${names.map(escaped).join('|')}).`, 'gsu')
  const isPart = (text: string) => text.length > 1
  const endings = new Set(starts.flatMap((start) => prefixes(start)).filter(isPart))
  const beginnings = new Set(ends.flatMap((end) => suffixes(end)).filter(isPart))
  const longest = Math.max(...names.map(({length}) => length))
  return (written) => {
    const text = written.replaceAll(seam, '\uFFFD').replace(special, (first) => first + seam)
    const isAt = (parts: ReadonlySet<string>, part: (length: number) => string) =>
      Array.from({length: longest}, (_, i) => part(i + 1)).some((each) => parts.has(each))
    const before = isAt(beginnings, (length) => text.slice(0, length)) ? seam : ''
    const after = isAt(endings, (length) => text.slice(-length)) ? seam : ''
    return before + text + after
  }
}

const prefixes = (text: string) => Array.from({length: text.length}, (_, i) => text.slice(0, i + 1))
const suffixes = (text: string) => Array.from({length: text.length}, (_, i) => text.slice(i))
const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

function longestToken(inner: HuggingFaceTokenizer, specials: ReadonlySet<string>, byteLevel: boolean): number {
  let longest = 1
  for (const token of inner.get_vocab(true).keys())
    if (token !== undefined && !specials.has(token)) longest = Math.max(longest, tokenBytes(token, byteLevel).length)
  return longest
}

function load(file: string, json: object, config: object): HuggingFaceTokenizer {
  try {
    return new HuggingFaceTokenizer(json, config)
  } catch (error) {
    throw new SvcError('model_file_invalid', {file, reason: (error as Error).message}, {cause: error})
  }
}

/** A special token is written as its text, or as an object around it. */
function tokenText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  const content = (value as {content?: unknown} | null | undefined)?.content
  return typeof content === 'string' ? content : undefined
}

interface TokenizerJson {
  model?: object | null
  added_tokens?: {content?: unknown; special?: unknown}[]
  decoder?: {type?: unknown; decoders?: {type?: unknown}[]} | null
}

const specialTokens = (json: TokenizerJson): string[] =>
  (json.added_tokens ?? [])
    .filter(({special, content}) => special === true && typeof content === 'string')
    .map(({content}) => content as string)

/** Whether tokens are spelt in GPT-2's letters for bytes, rather than in text with `▁` for the blank. */
const usesByteAlphabet = ({decoder}: TokenizerJson): boolean =>
  decoder?.type === 'ByteLevel' || (decoder?.decoders ?? []).some(({type}) => type === 'ByteLevel')

/** GPT-2's letters: printable bytes stand for themselves, the others for the letters from U+0100 on, in order. */
const byteOfLetter: ReadonlyMap<string, number> = (() => {
  const printable = (byte: number) =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255)
  let next = 256
  return new Map(
    Array.from({length: 256}, (_, byte) => [String.fromCodePoint(printable(byte) ? byte : next++), byte] as const),
  )
})()

function inByteAlphabet(text: string): string {
  const letters = new Map([...byteOfLetter].map(([letter, byte]) => [byte, letter]))
  return Array.from(Buffer.from(text), (byte) => letters.get(byte)).join('')
}

function tokenBytes(token: string, byteLevel: boolean): Buffer {
  if (byteLevel) {
    const bytes = Array.from(token, (letter) => byteOfLetter.get(letter))
    if (bytes.every((byte) => byte !== undefined)) return Buffer.from(bytes)
  }
  const byte = /^<0x([0-9A-F]{2})>$/i.exec(token)?.[1]
  return byte === undefined ? Buffer.from(token.replaceAll('▁', ' '), 'utf8') : Buffer.from(byte, 'hex')
}
