import {maxMarks} from '../grammar/index.js'
import {specialsOf, type Tokenizer} from '../text/index.js'

const known = new WeakMap<Tokenizer, ReadonlyMap<number, number>>()

/** The marks of special tokens that may be within a reply, by token. The order of the tokens determines them. */
export function marksOf(tokenizer: Tokenizer, ends: ReadonlySet<number>): ReadonlyMap<number, number> {
  const found = known.get(tokenizer)
  if (found !== undefined) return found
  const tokens = [...specialsOf(tokenizer)].filter((token) => !ends.has(token)).sort((a, b) => a - b)
  const marks = new Map(tokens.slice(0, maxMarks).map((token, mark) => [token, mark] as const))
  known.set(tokenizer, marks)
  return marks
}
