/** A set of bytes: a bit per byte, in eight words. */
export type ByteSet = Uint32Array

export const hasByte = (set: ByteSet, byte: number): boolean => ((set[byte >>> 5]! >>> (byte & 31)) & 1) === 1

/** @param ranges inclusive */
export function byteSet(ranges: Iterable<readonly [number, number]>): ByteSet {
  const set = new Uint32Array(8)
  for (const [first, last] of ranges) for (let byte = first; byte <= last; byte++) set[byte >>> 5]! |= 1 << (byte & 31)
  return set
}

export const unionOf = (a: ByteSet, b: ByteSet): ByteSet => a.map((word, i) => word | b[i]!)

export const byteSetKey = (set: ByteSet): string => set.join('.')

/** The bytes that a lexer need not distinguish. */
export interface ByteClasses {
  /** The class of each byte. */
  readonly of: Uint8Array
  /** A byte of each class. */
  readonly bytes: readonly number[]
}

/**
 * Groups the bytes that are in the same sets.
 * @param texts bytes, as Latin-1, that are each a set of their own
 */
export function byteClasses(sets: Iterable<ByteSet>, texts: Iterable<string>): ByteClasses {
  const of = new Uint8Array(256)
  let count = 1
  const divide = (isIn: (byte: number) => boolean) => {
    const inside = new Int16Array(count).fill(-1)
    const outside = new Uint8Array(count)
    for (let byte = 0; byte < 256; byte++) if (!isIn(byte)) outside[of[byte]!] = 1
    for (let byte = 0; byte < 256; byte++) {
      const own = of[byte]!
      if (outside[own] === 0 || !isIn(byte)) continue
      if (inside[own] === -1) inside[own] = count++
      of[byte] = inside[own]!
    }
  }
  for (const set of sets) divide((byte) => hasByte(set, byte))
  const sizes = new Uint16Array(256)
  for (const own of of) sizes[own]!++
  for (const text of texts)
    for (let i = 0; i < text.length; i++) {
      const byte = text.charCodeAt(i)
      if (sizes[of[byte]!] === 1) continue
      sizes[of[byte]!]!--
      sizes[count] = 1
      of[byte] = count++
    }
  return {of, bytes: Array.from({length: count}, (_, byteClass) => of.indexOf(byteClass))}
}
