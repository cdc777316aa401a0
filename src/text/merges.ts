/** Pairs of characters, each encoded as one number from their code points. */
export type Pairs = ReadonlySet<number>

const pairOf = (first: number, second: number) => first * 0x11_0000 + second

/**
 * The character pairs that a merge of a byte-pair encoding joins: the last character of its left part and the first of
 * its right part. No token spans any other pair, so a text can be split there. Undefined if tokens are not determined by
 * merges alone.
 * @param model of `tokenizer.json`
 */
export function mergedPairs(model: object | null | undefined): Pairs | undefined {
  const {type, merges, ignore_merges, continuing_subword_prefix, end_of_word_suffix} = (model ?? {}) as BpeModel
  if (type !== 'BPE' || !Array.isArray(merges) || ignore_merges === true) return undefined
  if (continuing_subword_prefix || end_of_word_suffix) return undefined
  const pairs = new Set<number>()
  for (const merge of merges) {
    const [first, second] = typeof merge === 'string' ? merge.split(' ', 2) : merge
    if (typeof first !== 'string' || typeof second !== 'string') return undefined
    pairs.add(pairOf(first.codePointAt(lastIndex(first)) ?? 0, second.codePointAt(0) ?? 0))
  }
  return pairs
}

interface BpeModel {
  type?: unknown
  merges?: unknown
  ignore_merges?: unknown
  continuing_subword_prefix?: unknown
  end_of_word_suffix?: unknown
}

/** Index of the last character. */
const lastIndex = (text: string): number => {
  const last = text.length - 1
  const unit = text.charCodeAt(last)
  return last > 0 && unit >= 0xdc00 && unit <= 0xdfff ? last - 1 : last
}

/** Shorter texts are not split, because the library caches them. */
const minLength = 32

/** Splits a text at the positions that no merge spans. */
export function partsOf(text: string, pairs: Pairs | undefined): string[] {
  if (pairs === undefined || text.length < minLength) return [text]
  const parts: string[] = []
  let from = 0
  let before = text.codePointAt(0) as number
  for (let at = before > 0xffff ? 2 : 1; at < text.length; ) {
    const next = text.codePointAt(at) as number
    if (!pairs.has(pairOf(before, next))) {
      parts.push(text.slice(from, at))
      from = at
    }
    before = next
    at += next > 0xffff ? 2 : 1
  }
  parts.push(text.slice(from))
  return parts
}
