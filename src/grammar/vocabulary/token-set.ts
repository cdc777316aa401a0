/** A set of tokens: a list if it is small, otherwise a bit per token. */
export type TokenSet = {readonly list: Int32Array} | {readonly bits: Uint32Array}

/** @param bits a bit per token; copied if it is kept */
export function tokenSetOf(bits: Uint32Array): TokenSet {
  let count = 0
  // An iterator would allocate an object per word.
  for (let i = 0; i < bits.length; i++) count += bitsIn(bits[i]!)
  if (count >= bits.length) return {bits: bits.slice()}
  const list = new Int32Array(count)
  let at = 0
  for (let i = 0; i < bits.length; i++)
    for (let rest = bits[i]!; rest !== 0; rest &= rest - 1) list[at++] = 32 * i + 31 - Math.clz32(rest & -rest)
  return {list}
}

function bitsIn(word: number): number {
  let rest = word - ((word >>> 1) & 0x55555555)
  rest = (rest & 0x33333333) + ((rest >>> 2) & 0x33333333)
  return Math.imul((rest + (rest >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** Adds the tokens of a set to bits. */
export function addTokens(set: TokenSet, into: Uint32Array): void {
  if ('list' in set) {
    const {list} = set
    for (let i = 0; i < list.length; i++) into[list[i]! >>> 5]! |= 1 << (list[i]! & 31)
  } else {
    const {bits} = set
    for (let i = 0; i < bits.length; i++) into[i]! |= bits[i]!
  }
}

export const bytesOfSet = (set: TokenSet): number => ('list' in set ? set.list.byteLength : set.bits.byteLength)

export const hasToken = (bits: Uint32Array, token: number): boolean => ((bits[token >>> 5]! >>> (token & 31)) & 1) === 1

/** Bits for intermediate results, used again. */
export class Scratch {
  readonly #words: number
  readonly #free: Uint32Array[] = []

  constructor(words: number) {
    this.#words = words
  }

  /** Bits that are not set. */
  take(): Uint32Array {
    return this.#free.pop()?.fill(0) ?? new Uint32Array(this.#words)
  }

  /** @param bits not used from now on */
  release(bits: Uint32Array): void {
    this.#free.push(bits)
  }
}

/** Number of words of a mask for a vocabulary. */
export const maskWords = (size: number): number => Math.ceil(size / 32)
