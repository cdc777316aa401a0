import {Tokenizer as HuggingFaceTokenizer} from '@huggingface/tokenizers'
import {literalPattern, SvcError} from '../errors/index.js'
import {type AddedToken, addedTokens, tokenSplitter} from './added-tokens.js'
import {mergedPairs, type Pairs, partsOf} from './merges.js'
import {type PostProcessorJson, surroundingsOf} from './post-processor.js'
import {createPreTokenizer, type PreTokenizerJson, UnsupportedFeature} from './pre-tokenizer.js'
import {type SpecialTokens, specialTokens, tokenText} from './special-tokens.js'
import {idsOf, inByteAlphabet, type ModelJson, type TokenizerJson, type Vocabulary, vocabularyOf} from './vocabulary.js'

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

export interface Tokenizer extends Pick<Vocabulary, 'size' | 'id' | 'tokenOf' | 'bytes' | 'specials' | 'longestToken'> {
  /** @throws TooManyTokens beyond `maxTokens`; the exception of `check`; model_file_invalid in the first call */
  encode(text: string, options: EncodeOptions): number[]
  /**
   * Escapes user text so that `encode` produces no special token from it.
   * @param others names of further tokens that it must not produce; the same list for the same names
   */
  guarded(text: string, others?: readonly string[]): string
  /** Omits special tokens. */
  decode(tokens: readonly number[]): string
  /** Prepares `encode`, whose first call takes the time and the memory for its tables otherwise. @throws model_file_invalid */
  prepare(): void
  /** Beginning-of-text and end-of-text tokens in the tokenizer's configuration. */
  readonly bos?: string
  readonly eos?: string
  readonly specialTokens: SpecialTokens
}

/** The parts of `tokenizer.json` that are used here; the library uses its `normalizer` and `decoder`. */
export interface TokenizerFile extends TokenizerJson {
  pre_tokenizer?: PreTokenizerJson | null
  post_processor?: PostProcessorJson | null
}

/**
 * Creates a tokenizer from `tokenizer.json` and its settings; the latter name the special tokens. Stored truncation and
 * padding are ignored, as in transformers, where each call states whether it wants them.
 * @param file path of `tokenizer.json`, for errors
 * @throws model_file_invalid if its vocabulary is malformed
 */
export function createTokenizer(
  json: TokenizerFile,
  config: Readonly<Record<string, unknown>>,
  file: string,
): Tokenizer {
  const added = orInvalid(file, () => addedTokens(json, config, idsOf(json.model?.vocab)))
  const complete = {...json, added_tokens: added}
  const vocabulary = orInvalid(file, () => vocabularyOf(complete, config))
  const bos = tokenText(config.bos_token)
  const eos = tokenText(config.eos_token)
  let loaded: ReturnType<typeof loadEncoder> | undefined
  const load = () => {
    loaded ??= orInvalid(file, () => loadEncoder(complete, config, added, vocabulary))
    return loaded
  }
  const none: readonly string[] = []
  const guards = new Map<readonly string[], (text: string) => string>()
  return {
    encode: (text, options) => load().encode(text, options),
    guarded(text, others = none) {
      const guarded = guards.get(others) ?? guard([...vocabulary.specials, ...others])
      guards.set(others, guarded)
      return guarded(text)
    },
    decode(tokens) {
      if (tokens.length === 0) return ''
      if (vocabulary.decode !== undefined) return vocabulary.decode(tokens)
      const options = {skip_special_tokens: true, clean_up_tokenization_spaces: false}
      return load().library.decode(tokens as number[], options)
    },
    prepare: () => void load(),
    size: vocabulary.size,
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

/**
 * The parts that encode a text: added tokens, normaliser, pre-tokenizer, model, and the tokens around the text. Normaliser
 * and model are those of the library.
 */
function loadEncoder(
  json: TokenizerFile & {added_tokens: AddedToken[]},
  config: Readonly<Record<string, unknown>>,
  added: readonly AddedToken[],
  vocabulary: Vocabulary,
) {
  requireSupported(json.model)
  const library = new HuggingFaceTokenizer({...json, pre_tokenizer: null, post_processor: null}, config)
  const normalizer = library.normalizer as Normalizer | null
  if (normalizer !== null) lowerByCharacter(normalizer)
  const model = library.model as NonNullable<typeof library.model>
  const normalized = (text: string) => (normalizer === null ? text : normalizer.normalize(text))
  const inText = tokenSplitter(added.filter((token) => !token.normalized).map((token) => [token.content, token]))
  const inNormalized = tokenSplitter(
    added.filter((token) => token.normalized).map((token) => [normalized(token.content), token]),
  )
  // The library adds the added tokens to the vocabulary of the model, which would find them within words.
  const idOf = idsOf(json.model?.vocab)
  for (const {content} of added) {
    const id = idOf(content)
    if (id === undefined) model.tokens_to_ids.delete(content)
    else model.tokens_to_ids.set(content, id)
  }
  const words = createPreTokenizer(json.pre_tokenizer)
  const {before, after} = surroundingsOf(json.post_processor, vocabulary.id)
  const encodeWords = wordEncoder(model, json.model ?? {}, mergedPairs(json.model), vocabulary)

  const encode = (text: string, {special, ...bounds}: EncodeOptions): number[] => {
    const count = {...bounds, tokens: 0}
    const parts = inText(text).flatMap((part, i): (AddedToken | number[])[] => {
      if (typeof part !== 'string') return [part]
      return inNormalized(normalized(part)).map((piece, j) =>
        typeof piece === 'string' ? encodeWords(words(piece, i === 0 && j === 0), count) : piece,
      )
    })
    const ids = parts.flatMap((part) => (Array.isArray(part) ? part : [part.id]))
    return special ? [...before, ...ids, ...after] : ids
  }
  return {library, encode}
}

/** A normaliser of the library, or a sequence of them. */
interface Normalizer {
  config: {type?: unknown}
  normalizers?: readonly Normalizer[]
  normalize(text: string): string
}

/** The native library maps each character alone, whereas JavaScript writes a sigma at the end of a word as ς. */
function lowerByCharacter(part: Normalizer): void {
  for (const each of part.normalizers ?? []) lowerByCharacter(each)
  if (part.config.type === 'Lowercase') part.normalize = (text) => text.replaceAll('Σ', 'σ').toLowerCase()
}

/** Features of models that the library ignores. */
function requireSupported(model: TokenizerFile['model']): void {
  const {type, continuing_subword_prefix: prefix, dropout} = model ?? {}
  if (type === 'BPE' && prefix) throw new UnsupportedFeature('continuing_subword_prefix with the model BPE')
  if (dropout) throw new UnsupportedFeature('dropout of the model')
}

/** Splits a special token in user text: a Unicode noncharacter, which must not occur in text. */
const seam = '\uFDD0'

/** Maximum length of a word: merging it cannot be interrupted. */
const maxRunLength = 65_536
/** Words encoded between two calls of `check`. */
const wordsPerCheck = 256

/** Limits of an encoding, and the number of its tokens so far. */
interface Count extends Omit<EncodeOptions, 'special'> {
  tokens: number
}

/** What encodes words: a model of the library. */
interface WordModel {
  encode(words: string[]): string[]
  tokens_to_ids: ReadonlyMap<string, number>
}

/**
 * Encodes words one by one, so that the work can be counted and aborted, and so that unknown characters are only joined
 * within a word. Words are split where no merge spans the boundary, which yields the same tokens, and parts that the library
 * mostly has in its cache.
 */
function wordEncoder(
  model: WordModel,
  {type, unk_token: unknownName, unk_id: unknownId, fuse_unk: fuses, byte_fallback: fallsBack}: Partial<ModelJson>,
  merges: Pairs | undefined,
  {isSpecial, usesBytes}: Pick<Vocabulary, 'isSpecial' | 'usesBytes'>,
): (words: readonly string[], count: Count) => number[] {
  const ids = model.tokens_to_ids
  const isUnigram = type === 'Unigram'
  const unknown = isUnigram ? (unknownId ?? undefined) : ids.get(String(unknownName))
  const seamWritten = usesBytes ? inByteAlphabet(seam) : seam
  const cut = (piece: string): readonly string[] => {
    if (piece.includes(seamWritten)) return piece.split(seamWritten).flatMap(cut)
    return isSpecial(piece) ? [...piece] : partsOf(piece, merges)
  }
  /** Bytes of text without a token, if all of them have one. */
  const bytesOf = (text: string): number[] | undefined => {
    const found = Array.from(Buffer.from(text), (byte) =>
      ids.get(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`),
    )
    return found.every((id) => id !== undefined) ? found : undefined
  }
  /** The tokens of text that the model does not know. */
  const ofUnknown = (text: string): number[] => {
    const same = isUnigram ? (ids.get(text) ?? (fallsBack === true ? bytesOf(text) : undefined)) : undefined
    return [same ?? unknown ?? []].flat()
  }
  const joinsUnknown = isUnigram || fuses === true
  const addKnown = (names: readonly string[], found: number[]): void => {
    let rest = ''
    for (const name of names) {
      const id = ids.get(name) ?? unknown
      if (id === undefined && !joinsUnknown) continue
      if (joinsUnknown && (id === unknown || id === undefined)) {
        rest += name
        continue
      }
      if (rest !== '') found.push(...ofUnknown(rest))
      rest = ''
      found.push(id as number)
    }
    if (rest !== '') found.push(...ofUnknown(rest))
  }
  return (words, count) => {
    const found: number[] = []
    const max = (count.maxTokens ?? Number.POSITIVE_INFINITY) - count.tokens
    let sinceCheck = wordsPerCheck
    const encodePart = (part: string) => {
      if (sinceCheck++ >= wordsPerCheck) {
        count.check?.()
        sinceCheck = 1
      }
      requireShort(part)
      return model.encode([part])
    }
    for (const word of words) {
      const parts = cut(word)
      const [first] = parts
      if (parts.length === 1 && first !== undefined) addKnown(encodePart(first), found)
      else {
        const names: string[] = []
        for (const part of parts) {
          names.push(...encodePart(part))
          if (found.length + names.length > max) throw new TooManyTokens()
        }
        addKnown(names, found)
      }
      if (found.length > max) throw new TooManyTokens()
    }
    count.tokens += found.length
    return found
  }
}

function requireShort({length}: string): void {
  if (length > maxRunLength)
    throw new SvcError('bad_request', {
      reason: `the prompt has ${length} characters without a word break; the maximum is ${maxRunLength}`,
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
  const special = new RegExp(`(?=${names.map(literalPattern).join('|')}).`, 'gsu')
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

/** An error of the library for a part that it does not have. */
const unknownPart = /^Unknown (\w+) type: (.*)$/

function orInvalid<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    const {message: reason} = error as Error
    const [, part, name] = unknownPart.exec(reason) ?? []
    const feature =
      error instanceof UnsupportedFeature ? reason : part === undefined ? undefined : `the ${part} ${name}`
    if (feature !== undefined) throw new SvcError('tokenizer_unsupported', {file, feature}, {cause: error})
    throw new SvcError('model_file_invalid', {file, reason}, {cause: error})
  }
}
