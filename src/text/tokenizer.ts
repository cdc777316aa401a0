import {Tokenizer as HuggingFaceTokenizer} from '@huggingface/tokenizers'
import {SvcError} from '../errors/index.js'
import {mergedPairs, type Pairs, partsOf} from './merges.js'
import {type SpecialTokens, specialTokens, tokenText} from './special-tokens.js'
import {inByteAlphabet, type TokenizerJson, type Vocabulary, vocabularyOf} from './vocabulary.js'

export interface EncodeOptions {
  /** Adds the special tokens that the model expects, such as the beginning-of-text token. */
  special: boolean
  /** Maximum number of tokens; `encode` throws as soon as there are more. */
  maxTokens?: number
  /** Called regularly; its exception aborts the encoding. */
  check?: () => void
}

/** A text has more than `maxTokens` tokens. */
export class TooManyTokens extends Error {}

export interface Tokenizer extends Pick<Vocabulary, 'id' | 'tokenOf' | 'bytes' | 'specials' | 'longestToken'> {
  /** @throws TooManyTokens beyond `maxTokens`; the exception of `check`; model_file_invalid in the first call */
  encode(text: string, options: EncodeOptions): number[]
  /** Escapes user text so that `encode` produces no special token from it. */
  guarded(text: string): string
  /** Omits special tokens. */
  decode(tokens: readonly number[]): string
  /** Prepares `encode`, whose first call takes the time and the memory for its tables otherwise. @throws model_file_invalid */
  prepare(): void
  /** Beginning-of-text and end-of-text tokens in the tokenizer's configuration. */
  readonly bos?: string
  readonly eos?: string
  readonly specialTokens: SpecialTokens
}

/**
 * Creates a tokenizer from `tokenizer.json` and its settings; the latter name the special tokens.
 * @param file path of `tokenizer.json`, for errors
 * @throws model_file_invalid if its vocabulary is malformed
 */
export function createTokenizer(
  json: TokenizerJson,
  config: Readonly<Record<string, unknown>>,
  file: string,
): Tokenizer {
  const vocabulary = orInvalid(file, () => vocabularyOf(json, config))
  const bos = tokenText(config.bos_token)
  const eos = tokenText(config.eos_token)
  let loaded: {inner: HuggingFaceTokenizer; budget: ReturnType<typeof boundWork>} | undefined
  const load = () => {
    if (loaded !== undefined) return loaded
    const inner = orInvalid(file, () => new HuggingFaceTokenizer(json, config))
    if (inner.pre_tokenizer !== null) convertFaster(inner.pre_tokenizer)
    splitFaster(inner as unknown as Splitters)
    loaded = {inner, budget: boundWork(inner, mergedPairs(json.model), vocabulary)}
    return loaded
  }
  let guarded: ((text: string) => string) | undefined
  return {
    encode(text, {special, ...bounds}) {
      const {inner, budget} = load()
      return budget(bounds, () => inner.encode(text, {add_special_tokens: special}).ids)
    },
    guarded(text) {
      guarded ??= guard(vocabulary.specials)
      return guarded(text)
    },
    decode(tokens) {
      if (tokens.length === 0) return ''
      if (vocabulary.decode !== undefined) return vocabulary.decode(tokens)
      const options = {skip_special_tokens: true, clean_up_tokenization_spaces: false}
      return load().inner.decode(tokens as number[], options)
    },
    prepare: () => void load(),
    id: vocabulary.id,
    tokenOf: vocabulary.tokenOf,
    bytes: vocabulary.bytes,
    specials: vocabulary.specials,
    specialTokens: specialTokens(config),
    get longestToken() {
      return vocabulary.longestToken
    },
    ...(bos === undefined ? {} : {bos}),
    ...(eos === undefined ? {} : {eos}),
  }
}

/** The library's pre-tokenizer for byte-level models, or a sequence that contains it. */
interface PreTokenizer {
  tokenizers?: readonly PreTokenizer[]
  byte_encoder?: unknown
  add_prefix_space?: boolean
  use_regex?: boolean
  pattern?: RegExp | string
  pre_tokenize_text(text: string): unknown
}

/** Replaces the library's conversion of words to the byte alphabet, which takes half of the time of encoding. */
function convertFaster(part: PreTokenizer): void {
  for (const each of part.tokenizers ?? []) convertFaster(each)
  const {byte_encoder: encoder, pattern} = part
  if (encoder === undefined || !(pattern instanceof RegExp)) return
  part.pre_tokenize_text = (written) => {
    const text = part.add_prefix_space && !written.startsWith(' ') ? ` ${written}` : written
    return (part.use_regex ? (text.match(pattern) ?? []) : [text]).map(inByteAlphabet)
  }
}

/** A node of the library's tree of added tokens: a branch per character, and the token that ends there. */
interface TokenTree {
  end?: string
  [character: string]: TokenTree | string | undefined
}
type Splitters = Record<
  'splitter_unnormalized' | 'splitter_normalized',
  {trie: TokenTree; split(text: string): string[]}
>

/** Replaces the library's search for added tokens by a regular expression, which finds the longest one, too. */
function splitFaster(splitters: Splitters): void {
  for (const splitter of [splitters.splitter_unnormalized, splitters.splitter_normalized]) {
    const tokens = tokensIn(splitter.trie)
      .filter((token) => token !== '')
      .sort((a, b) => b.length - a.length)
    const any = new RegExp(`(${tokens.map(escaped).join('|')})`)
    splitter.split = (text) => (tokens.length === 0 ? [text] : text.split(any)).filter((part) => part !== '')
  }
}

const tokensIn = (tree: TokenTree): string[] =>
  Object.values(tree).flatMap((branch) =>
    typeof branch === 'string' ? [branch] : branch === undefined ? [] : tokensIn(branch),
  )

/** Splits a special token in user text: a Unicode noncharacter, which must not occur in text. */
const seam = '\uFDD0'

/** Maximum length of a word: merging it cannot be interrupted. */
const longestRun = 65_536
/** Words encoded between two calls of `check`. */
const wordsPerBatch = 256

type Bounds = Omit<EncodeOptions, 'special'>

/**
 * Makes the library encode in batches of words, so that the work can be counted and aborted. Words are split where no
 * merge spans the boundary, which yields the same tokens, and parts that the library mostly has in its cache.
 */
function boundWork(
  {model}: HuggingFaceTokenizer,
  merges: Pairs | undefined,
  {isSpecial, usesBytes}: Pick<Vocabulary, 'isSpecial' | 'usesBytes'>,
) {
  if (model === null) return <T>(_bounds: Bounds, work: () => T) => work()
  const seamWritten = usesBytes ? inByteAlphabet(seam) : seam
  const encode = model.encode.bind(model) as (words: string[]) => string[]
  let bounds: Bounds = {}
  let tokens = 0
  const encodeBatch = (words: string[]): string[] => {
    bounds.check?.()
    const found = encode(words)
    tokens += found.length
    if (tokens > (bounds.maxTokens ?? Number.POSITIVE_INFINITY)) throw new TooManyTokens()
    return found
  }
  const cut = (piece: string): readonly string[] => {
    if (piece.includes(seamWritten)) return piece.split(seamWritten).flatMap(cut)
    return isSpecial(piece) ? [...piece] : partsOf(piece, merges)
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
  return <T>(nextBounds: Bounds, work: () => T): T => {
    bounds = nextBounds
    tokens = 0
    return work()
  }
}

function requireShort({length}: string): void {
  if (length > longestRun)
    throw new SvcError('bad_request', {
      reason: `the prompt has ${length} characters without a word break; the maximum is ${longestRun}`,
    })
}

/**
 * Splits special tokens in user text with a seam, including those that would only form together with the text that a
 * template writes around it.
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

function orInvalid<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new SvcError('model_file_invalid', {file, reason: (error as Error).message}, {cause: error})
  }
}
