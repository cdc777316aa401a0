import type {EncodeOptions, Tokenizer} from '../text/index.js'

export type BoundedEncode = Omit<EncodeOptions, 'special'>

/** A text that no token joins with what follows it. */
const earlier = '\n'

/** The tokens of a text that follows another one. At the start of a text, some tokenizers add a space. */
export function encodeWithin(tokenizer: Tokenizer, text: string, bounds: BoundedEncode = {}): number[] {
  const tokens = tokenizer.encode(text, {special: false, ...bounds})
  const isAdded = tokens[0] !== undefined && tokenizer.bytes(tokens[0])[0] === 0x20 && !text.startsWith(' ')
  if (!isAdded) return tokens
  const later = tokenizer.encode(`${earlier}${text}`, {special: false, ...bounds})
  const start = later.findIndex((token) => tokenizer.bytes(token).toString() === earlier)
  return later.slice(start + 1)
}
