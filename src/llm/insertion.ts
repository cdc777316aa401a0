import type {Tokenizer} from '../text/index.js'
import {type BoundedEncode, encodeWithin} from './encode-within.js'

/** The tokens around a text and a suffix, between which a model inserts text (fill in the middle). */
interface InsertionFormat {
  /** In front of the text, between text and suffix, and after the suffix. */
  readonly open: string
  readonly between: string
  readonly close: string
  /** Further tokens that end an insertion, if the vocabulary has them. */
  readonly ends: readonly string[]
}

/** Formats by what vocabularies have. */
const formats: readonly InsertionFormat[] = [
  // Qwen 2.5 Coder, Qwen 3 Coder, CodeGemma
  {
    open: '<|fim_prefix|>',
    between: '<|fim_suffix|>',
    close: '<|fim_middle|>',
    ends: ['<|fim_pad|>', '<|repo_name|>', '<|file_sep|>', '<|file_separator|>'],
  },
  // StarCoder, Granite Code, Stable Code
  {
    open: '<fim_prefix>',
    between: '<fim_suffix>',
    close: '<fim_middle>',
    ends: ['<fim_pad>', '<file_sep>', '<repo_name>', '<filename>', '<reponame>'],
  },
  // SantaCoder
  {open: '<fim-prefix>', between: '<fim-suffix>', close: '<fim-middle>', ends: ['<fim-pad>']},
  // DeepSeek Coder
  {open: '<｜fim▁begin｜>', between: '<｜fim▁hole｜>', close: '<｜fim▁end｜>', ends: []},
  // Code Llama
  {open: '▁<PRE>', between: '▁<SUF>', close: '▁<MID>', ends: ['▁<EOT>']},
]

/** How a model inserts text, by its tokens. */
export interface Insertion {
  readonly open: number
  readonly between: number
  readonly close: number
  /** Names of these tokens, which the texts cannot produce, and of others that end an insertion. */
  readonly names: readonly string[]
}

/** Undefined if the vocabulary has no tokens for it. */
export function readInsertion(tokenizer: Tokenizer): Insertion | undefined {
  for (const {ends, ...format} of formats) {
    const markers = [format.open, format.between, format.close]
    const [open, between, close] = markers.map(tokenizer.id)
    if (open === undefined || between === undefined || close === undefined) continue
    return {open, between, close, names: [...markers, ...ends.filter((name) => tokenizer.id(name) !== undefined)]}
  }
  return undefined
}

/** Texts that end an insertion. */
export const stopsOf = (tokenizer: Tokenizer, {names}: Insertion): string[] =>
  names.flatMap((name) => {
    const token = tokenizer.id(name)
    return token === undefined ? [] : [tokenizer.bytes(token).toString()]
  })

/** The tokens of a text and a suffix, after the tokens with which each text begins. Neither has special tokens. */
export function encodeInsertion(
  tokenizer: Tokenizer,
  {open, between, close, names}: Insertion,
  {text, suffix}: {text: string; suffix: string},
  bounds: BoundedEncode,
): number[] {
  const bos = tokenizer.bos === undefined ? undefined : tokenizer.id(tokenizer.bos)
  const isBegun = bos !== undefined && tokenizer.encode('', {special: true})[0] === bos
  const encode = (part: string) => encodeWithin(tokenizer, tokenizer.guarded(part, names), bounds)
  return [...(isBegun ? [bos] : []), open, ...encode(text), between, ...encode(suffix), close]
}
