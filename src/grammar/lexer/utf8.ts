/** Inclusive ranges of bytes, one for each byte of a character. */
export type ByteRanges = readonly (readonly [number, number])[]

/** The last code points of one, two, three and four bytes. */
const lastOfLength = [0x7f, 0x7ff, 0xffff, 0x10ffff]
const firstSurrogate = 0xd800
const lastSurrogate = 0xdfff

/**
 * The UTF-8 bytes of a range of code points, as sequences of byte ranges. Surrogates are left out. Splits the range until
 * each part is a product of byte ranges, as RE2 and `utf8-ranges` do.
 */
export function utf8Ranges(first: number, last: number): ByteRanges[] {
  if (first > last) return []
  if (first <= lastSurrogate && last >= firstSurrogate)
    return [...utf8Ranges(first, firstSurrogate - 1), ...utf8Ranges(lastSurrogate + 1, last)]
  const limit = lastOfLength.find((each) => first <= each && each < last)
  if (limit !== undefined) return [...utf8Ranges(first, limit), ...utf8Ranges(limit + 1, last)]
  for (let low = 0x3f; low < last; low = (low << 6) | 0x3f) {
    if ((first | low) >= last) break
    if ((first & low) !== 0) return [...utf8Ranges(first, first | low), ...utf8Ranges((first | low) + 1, last)]
    if ((last & low) !== low) return [...utf8Ranges(first, (last & ~low) - 1), ...utf8Ranges(last & ~low, last)]
  }
  const [from, to] = [Buffer.from(String.fromCodePoint(first)), Buffer.from(String.fromCodePoint(last))]
  return [[...from].map((byte, i) => [byte, to[i]!] as const)]
}
