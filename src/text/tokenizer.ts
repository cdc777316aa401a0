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
  const bos = tokenText(config.bos_token)
  const eos = tokenText(config.eos_token)
  return {
    encode: (text, {special}) => inner.encode(text, {add_special_tokens: special}).ids,
    decode: (tokens) =>
      tokens.length === 0
        ? ''
        : inner.decode(tokens as number[], {skip_special_tokens: true, clean_up_tokenization_spaces: false}),
    id: (token) => inner.token_to_id(token),
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
