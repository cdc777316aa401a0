import {Tiktoken, type TiktokenBPE} from 'js-tiktoken/lite'
import cl100k from 'js-tiktoken/ranks/cl100k_base'
import o200k from 'js-tiktoken/ranks/o200k_base'

/** Two vocabularies in use, and one of the size of recent ones that has the tokens of both. */
export const vocabularyNames = ['cl100k', 'o200k', '248k'] as const
export type VocabularyName = (typeof vocabularyNames)[number]

/** Encodes texts. The additional tokens of the largest vocabulary do not occur. */
export function encoderOf(name: VocabularyName): (text: string) => readonly number[] {
  const encoding = new Tiktoken(name === 'cl100k' ? cl100k : o200k)
  return (text) => encoding.encode(text, [], [])
}

/** Bytes by token. */
export function tokensOf(name: VocabularyName): readonly Buffer[] {
  if (name !== '248k') return read(name === 'cl100k' ? cl100k : o200k)
  const tokens = read(o200k)
  const known = new Set(tokens.map((bytes) => bytes.toString('latin1')))
  const others = read(cl100k).filter((bytes) => !known.has(bytes.toString('latin1')))
  return [...tokens, ...others].slice(0, 248_000)
}

/** A file of js-tiktoken: lines of a comment, the number of the first token, and tokens in Base64. */
function read({bpe_ranks}: TiktokenBPE): Buffer[] {
  const tokens: Buffer[] = []
  for (const line of bpe_ranks.split('\n')) {
    const [, first, ...texts] = line.split(' ')
    for (const [i, text] of texts.entries()) tokens[Number(first) + i] = Buffer.from(text, 'base64')
  }
  return tokens
}
