import {counted, SvcError} from '../../errors/index.js'
import {type GgufMetadata, type GgufValue, ggufInvalid} from './header.js'

/** A tokenizer in the layout of `tokenizer.json`, and its settings as in `tokenizer_config.json`. */
export interface GgufTokenizer {
  json: Readonly<Record<string, unknown>>
  settings: Readonly<Record<string, unknown>>
  /** Ids of the tokens that end a text or a turn. */
  ends: readonly number[]
}

/** Types of tokens in the metadata. */
export const tokenTypes = {normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6}

const isolated = (regex: string) => ({type: 'Split', pattern: {Regex: regex}, behavior: 'Isolated', invert: false})
const byteLevel = (splits: boolean) => ({
  type: 'ByteLevel',
  add_prefix_space: false,
  trim_offsets: false,
  use_regex: splits,
})
const sequence = (...pretokenizers: object[]) => ({type: 'Sequence', pretokenizers})

const contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
const spaces = '\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+'
const symbols = String.raw` ?[^\s\p{L}\p{N}]+[\r\n]*`
const word = String.raw`[^\r\n\p{L}\p{N}]?\p{L}+`
const upper = String.raw`\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}`
const lower = String.raw`\p{Ll}\p{Lm}\p{Lo}\p{M}`
const start = String.raw`[^\r\n\p{L}\p{N}]?`

/** How a byte-level tokenizer differs from that of GPT-2. */
interface BytePairs {
  pre: object
  normalizer?: object
  /** Whether a word that is a token is not split. */
  wholeWords?: boolean
  /** Whether a text starts with the beginning-of-text token if the metadata does not say so. */
  addsBos?: boolean
}

const qwen2: BytePairs = {
  pre: sequence(isolated(`${contractions}|${word}|\\p{N}|${symbols}|${spaces}`), byteLevel(false)),
  normalizer: {type: 'NFC'},
}
const markedWord = String.raw`[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+`
const markedSymbols = String.raw` ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*`
const qwen35: BytePairs = {
  pre: sequence(isolated(`${contractions}|${markedWord}|\\p{N}|${markedSymbols}|${spaces}`), byteLevel(false)),
  normalizer: {type: 'NFC'},
}
const llama3: BytePairs = {
  pre: sequence(isolated(`${contractions}|${word}|\\p{N}{1,3}|${symbols}|${spaces}`), byteLevel(false)),
  wholeWords: true,
  addsBos: true,
}
const casedWords = (end: string) => `${start}[${upper}]*[${lower}]+${end}|${start}[${upper}]+[${lower}]*${end}`
const otherSymbols = String.raw` ?[^\s\p{L}\p{N}]+[\r\n/]*`
const gpt4o: BytePairs = {
  pre: sequence(isolated(`${casedWords(`${contractions}?`)}|\\p{N}{1,3}|${otherSymbols}|${spaces}`), byteLevel(false)),
}
const tekken: BytePairs = {
  pre: sequence(isolated(`${casedWords('')}|\\p{N}|${otherSymbols}|${spaces}`), byteLevel(false)),
  wholeWords: true,
  addsBos: true,
}

const singleDigits: BytePairs = {pre: sequence({type: 'Digits', individual_digits: true}, byteLevel(true))}

/**
 * Byte-level tokenizers by their names in `tokenizer.ggml.pre`. Sources: the tokenizers that the publishers of the models
 * distribute, whose names are in `convert_hf_to_gguf_update.py` of llama.cpp.
 */
const bytePairs: Readonly<Record<string, BytePairs>> = {
  'gpt-2': {pre: byteLevel(true)},
  qwen2,
  qwen35,
  'llama-bpe': llama3,
  tekken,
  smollm: singleDigits,
  refact: singleDigits,
  dbrx: {pre: llama3.pre},
  lfm2: llama3,
  'gpt-4o': gpt4o,
}

/** The name of a byte-level tokenizer with these rules; undefined if it has none. */
export function bytePairName({
  pre,
  normalizer,
  wholeWords,
}: {
  pre: object | null | undefined
  normalizer: object | null | undefined
  wholeWords: boolean
}): string | undefined {
  const names = Object.keys(bytePairs).filter((name) => {
    const kind = bytePairs[name]
    return comparable(kind?.pre) === comparable(pre) && comparable(kind?.normalizer) === comparable(normalizer)
  })
  return names.find((name) => (bytePairs[name]?.wholeWords ?? false) === wholeWords) ?? undefined
}

/** A part of a tokenizer as text, with its defaults, and without what only the positions of tokens depend on. */
function comparable(part: object | null | undefined): string {
  const {trim_offsets: _, ...rules} = {...part} as Record<string, unknown>
  const {type, pretokenizers} = rules
  if (type === 'Sequence' && Array.isArray(pretokenizers)) return pretokenizers.map(comparable).join()
  const defaults = type === 'ByteLevel' ? {use_regex: true} : type === 'Split' ? {invert: false} : {}
  const entries = Object.entries({...defaults, ...rules}).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(entries)
}

/**
 * Makes the tokenizer that the metadata describes.
 * @throws gguf_invalid, tokenizer_unsupported
 */
export function tokenizerOf(file: string, metadata: GgufMetadata): GgufTokenizer {
  const read = new TokenizerMetadata(file, metadata)
  const kind = read.text('model')
  if (kind === 'gpt2') return bytePairTokenizer(read)
  if (kind === 'llama') return sentencePieceTokenizer(read, false)
  if (kind === 'gemma4') return sentencePieceTokenizer(read, true)
  throw read.unsupported(kind === undefined ? 'no tokenizer' : `the tokenizer "${kind}"`)
}

/** Reads the keys of the tokenizer. */
class TokenizerMetadata {
  readonly #file: string
  readonly #metadata: GgufMetadata
  readonly tokens: readonly string[]
  readonly types: readonly number[]

  constructor(file: string, metadata: GgufMetadata) {
    this.#file = file
    this.#metadata = metadata
    this.tokens = this.texts('tokens')
    const types = this.numbers('token_type')
    this.types = types.length === 0 ? this.tokens.map(() => 1) : types
    if (this.types.length !== this.tokens.length)
      throw this.invalid(`it has ${counted(this.tokens.length, 'token')}, but ${this.types.length} types of tokens`)
  }

  #get = (key: string): GgufValue | undefined => this.#metadata.get(`tokenizer.ggml.${key}`)

  text(key: string): string | undefined {
    const value = this.#get(key)
    return typeof value === 'string' ? value : undefined
  }

  flag(key: string): boolean | undefined {
    const value = this.#get(key)
    return typeof value === 'boolean' ? value : undefined
  }

  /** A list; empty if absent. @throws gguf_invalid */
  texts(key: string): readonly string[] {
    return this.#list(key, (item): item is string => typeof item === 'string')
  }

  numbers(key: string): readonly number[] {
    return this.#list(key, (item): item is number => typeof item === 'number')
  }

  #list<T extends GgufValue>(key: string, isItem: (item: GgufValue) => item is T): readonly T[] {
    const value = this.#get(key) ?? []
    if (!Array.isArray(value) || !value.every(isItem))
      throw this.invalid(`tokenizer.ggml.${key} is not a list of the expected type`)
    return value
  }

  /** The id of a special token; undefined if it has none. */
  id(name: string): number | undefined {
    const value = this.#get(`${name}_token_id`)
    return typeof value === 'number' && value >= 0 && value < this.tokens.length ? value : undefined
  }

  name(name: string): string | undefined {
    return this.tokens[this.id(name) ?? -1]
  }

  /** Ids by names of the tokens of the vocabulary. */
  vocabulary(isPart: (type: number) => boolean): Record<string, number> {
    return Object.fromEntries(
      this.tokens.flatMap((token, id) => (isPart(this.types[id] as number) ? [[token, id] as const] : [])),
    )
  }

  /** Special tokens, and tokens that are found in a text before it is split. */
  added(): object[] {
    const {unknown, control, userDefined} = tokenTypes
    return this.tokens.flatMap((content, id) => {
      const type = this.types[id]
      if (type !== unknown && type !== control && type !== userDefined) return []
      const special = type !== userDefined
      return [{id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special}]
    })
  }

  /** The tokens around a text. */
  surroundings(addsBos: boolean): object {
    const first = (this.flag('add_bos_token') ?? addsBos) ? this.name('bos') : undefined
    const last = this.flag('add_eos_token') === true ? this.name('eos') : undefined
    const special = (name: string | undefined) => (name === undefined ? [] : [{SpecialToken: {id: name, type_id: 0}}])
    return {
      type: 'TemplateProcessing',
      single: [...special(first), {Sequence: {id: 'A', type_id: 0}}, ...special(last)],
      pair: [],
      special_tokens: {},
    }
  }

  settings(): Record<string, string> {
    const names = {
      bos_token: 'bos',
      eos_token: 'eos',
      unk_token: 'unknown',
      pad_token: 'padding',
      sep_token: 'seperator',
    }
    return Object.fromEntries(
      Object.entries(names).flatMap(([key, name]) => {
        const token = this.name(name)
        return token === undefined ? [] : [[key, token] as const]
      }),
    )
  }

  ends(): number[] {
    return ['eos', 'eot', 'eom'].map((name) => this.id(name)).filter((id) => id !== undefined)
  }

  invalid(reason: string): SvcError {
    return ggufInvalid(this.#file, reason)
  }

  unsupported(feature: string): SvcError {
    return new SvcError('tokenizer_unsupported', {file: this.#file, feature})
  }
}

function bytePairTokenizer(read: TokenizerMetadata): GgufTokenizer {
  const name = read.text('pre') ?? ''
  const kind = Object.hasOwn(bytePairs, name) ? bytePairs[name] : undefined
  if (kind === undefined)
    throw read.unsupported(name === '' ? 'a pre-tokenizer without a name' : `the pre-tokenizer "${name}"`)
  const {pre, normalizer = null, wholeWords = false, addsBos = false} = kind
  const {unknown, control, userDefined, unused} = tokenTypes
  const outside = [unknown, control, userDefined, unused]
  const decoder = byteLevel(true)
  return {
    json: {
      version: '1.0',
      added_tokens: read.added(),
      normalizer,
      pre_tokenizer: pre,
      post_processor: read.surroundings(addsBos),
      decoder,
      model: {
        type: 'BPE',
        unk_token: null,
        fuse_unk: false,
        byte_fallback: false,
        ignore_merges: wholeWords,
        vocab: read.vocabulary((type) => !outside.includes(type)),
        merges: read.texts('merges'),
      },
    },
    settings: read.settings(),
    ends: read.ends(),
  }
}

const mark = '▁'

/**
 * A SentencePiece model of byte pairs, as transformers converts it: the scores determine the order of the merges, unless the
 * file has them.
 */
function sentencePieceTokenizer(read: TokenizerMetadata, hasMerges: boolean): GgufTokenizer {
  const vocab = read.vocabulary((type) => type !== tokenTypes.unused)
  const scores = read.numbers('scores')
  if (!hasMerges && scores.length !== read.tokens.length)
    throw read.invalid(`it has ${counted(read.tokens.length, 'token')}, but ${scores.length} scores`)
  const prefixes = read.flag('add_space_prefix') ?? true
  const spaces = {type: 'Replace', pattern: {String: ' '}, content: mark}
  const decoders = [
    {type: 'Replace', pattern: {String: mark}, content: ' '},
    {type: 'ByteFallback'},
    {type: 'Fuse'},
    ...(prefixes ? [{type: 'Strip', content: ' ', start: 1, stop: 0}] : []),
  ]
  return {
    json: {
      version: '1.0',
      added_tokens: read.added(),
      normalizer: prefixes ? {type: 'Sequence', normalizers: [{type: 'Prepend', prepend: mark}, spaces]} : spaces,
      pre_tokenizer: null,
      post_processor: read.surroundings(true),
      decoder: {type: 'Sequence', decoders},
      model: {
        type: 'BPE',
        unk_token: read.name('unknown') ?? read.tokens[read.types.indexOf(tokenTypes.unknown)] ?? null,
        fuse_unk: true,
        byte_fallback: true,
        vocab,
        merges: hasMerges ? read.texts('merges') : mergesOf(read, scores),
      },
    },
    settings: read.settings(),
    ends: read.ends(),
  }
}

/**
 * The pairs of tokens whose concatenation is a token. Those with a higher score of the result precede the others, then
 * those with a longer left part, then those with a longer right part.
 */
function mergesOf({tokens, types}: TokenizerMetadata, scores: readonly number[]): [string, string][] {
  const known = new Set(tokens.filter((_, id) => types[id] !== tokenTypes.unused))
  const merges: {pair: [string, string]; score: number; lengths: readonly [number, number]}[] = []
  for (const [id, token] of tokens.entries()) {
    const characters = known.has(token) ? [...token] : []
    for (let at = 1; at < characters.length; at++) {
      const pair: [string, string] = [characters.slice(0, at).join(''), characters.slice(at).join('')]
      if (!known.has(pair[0]) || !known.has(pair[1])) continue
      merges.push({pair, score: scores[id] as number, lengths: [at, characters.length - at]})
    }
  }
  return merges
    .sort((a, b) => b.score - a.score || b.lengths[0] - a.lengths[0] || b.lengths[1] - a.lengths[1])
    .map(({pair}) => pair)
}
