import {Tiktoken, type TiktokenBPE} from 'js-tiktoken/lite'
import cl100k from 'js-tiktoken/ranks/cl100k_base'
import o200k from 'js-tiktoken/ranks/o200k_base'

/** A vocabulary, and the tokens of a text in it. */
export interface BenchVocabulary {
  readonly name: string
  /** Bytes by token. */
  readonly tokens: readonly Buffer[]
  encode(text: string): readonly number[]
}

/** Bytes by token of a file of js-tiktoken: lines of a comment, the number of the first token, and tokens in Base64. */
function tokensOf({bpe_ranks}: TiktokenBPE): Buffer[] {
  const tokens: Buffer[] = []
  for (const line of bpe_ranks.split('\n')) {
    const [, first, ...texts] = line.split(' ')
    for (const [i, text] of texts.entries()) tokens[Number(first) + i] = Buffer.from(text, 'base64')
  }
  return tokens
}

/** Two vocabularies in use, and one of the size of recent ones that has the tokens of both. */
export function* vocabularies(): Generator<BenchVocabulary> {
  for (const [name, ranks] of Object.entries({cl100k, o200k})) {
    const encoding = new Tiktoken(ranks)
    yield {name, tokens: tokensOf(ranks), encode: (text) => encoding.encode(text, [], [])}
  }
  const tokens = tokensOf(o200k)
  const known = new Set(tokens.map((bytes) => bytes.toString('latin1')))
  const others = tokensOf(cl100k).filter((bytes) => !known.has(bytes.toString('latin1')))
  const encoding = new Tiktoken(o200k)
  yield {
    name: '248k',
    tokens: [...tokens, ...others].slice(0, 248_000),
    encode: (text) => encoding.encode(text, [], []),
  }
}
