import {Tokenizer as HuggingFaceTokenizer} from '@huggingface/tokenizers'
import {SvcError} from '../errors/index.js'

/** A model's tokenizer. */
export interface Tokenizer {
  /** `special` adds the tokens that the model expects around a text, such as the beginning-of-text token. */
  encode(text: string, options: {special: boolean}): number[]
  /** Special tokens are left out. */
  decode(tokens: readonly number[]): string
  /** Id of a token, by its text. */
  id(token: string): number | undefined
  /** The bytes that a token stands for; a special token stands for its name. */
  bytes(token: number): Buffer
  /** Texts of the special tokens. */
  readonly specials: readonly string[]
  /** The beginning-of-text and end-of-text tokens that the tokenizer's configuration names. */
  readonly bos?: string
  readonly eos?: string
}

/**
 * A tokenizer from what `tokenizer.json` and `tokenizer_config.json` hold; the latter names the special tokens.
 * @param file where the first came from, for errors
 * @throws model_file_invalid
 */
export function createTokenizer(json: object, config: Readonly<Record<string, unknown>>, file: string): Tokenizer {
  const inner = load(file, json, config)
  const byteLevel = usesByteAlphabet(json)
  const bos = tokenText(config.bos_token)
  const eos = tokenText(config.eos_token)
  return {
    encode: (text, {special}) => inner.encode(text, {add_special_tokens: special}).ids,
    decode: (tokens) =>
      tokens.length === 0
        ? ''
        : inner.decode(tokens as number[], {skip_special_tokens: true, clean_up_tokenization_spaces: false}),
    id: (token) => inner.token_to_id(token),
    bytes: (token) => tokenBytes(inner.id_to_token(token) ?? '', byteLevel),
    specials: specialTokens(json),
    ...(bos === undefined ? {} : {bos}),
    ...(eos === undefined ? {} : {eos}),
  }
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

function tokenBytes(token: string, byteLevel: boolean): Buffer {
  if (byteLevel) {
    const bytes = Array.from(token, (letter) => byteOfLetter.get(letter))
    if (bytes.every((byte) => byte !== undefined)) return Buffer.from(bytes)
  }
  const byte = /^<0x([0-9A-F]{2})>$/i.exec(token)?.[1]
  return byte === undefined ? Buffer.from(token.replaceAll('▁', ' '), 'utf8') : Buffer.from(byte, 'hex')
}
