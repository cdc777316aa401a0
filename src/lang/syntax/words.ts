import {reservedWords, T} from './token.js'

const hashOf = (text: string): number => {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
  return hash
}

const isUpperCase = (code: number) => code >= 65 && code <= 90
const at = 64
const underscore = 95

/**
 * The different words and decorators of a source, so that equal ones are one string, which is hashed once and compared by
 * its address. A hash table with open addressing.
 */
export class Words {
  readonly texts: string[] = []
  /** The kind of token of each word. */
  readonly kinds: number[] = []
  readonly #source: string
  readonly #codes: Uint16Array
  readonly #hashes: number[] = []
  /** A place of each word in the source, or -1. */
  readonly #starts: number[] = []
  /** The number of a word plus 1, or 0; at most half of the places are in use. */
  #table = new Uint32Array(1024)

  /** @param codes the code units of the source */
  constructor(source: string, codes: Uint16Array) {
    this.#source = source
    this.#codes = codes
    for (const [text, kind] of reservedWords) this.#add(text, kind, hashOf(text), -1)
  }

  /** Returns the number of the word at a place of the source. `hash`: that of its code units. */
  find(start: number, end: number, hash: number): number {
    const table = this.#table
    const mask = table.length - 1
    for (let place = hash & mask; ; place = (place + 1) & mask) {
      const word = (table[place] as number) - 1
      if (word === -1) break
      if (this.#hashes[word] === hash && this.#isAt(word, start, end)) return word
    }
    return this.#add(this.#source.slice(start, end), this.#kindOf(start, end), hash, start)
  }

  #kindOf(start: number, end: number): number {
    const first = this.#codes[start] as number
    if (first === at) return T.decorator
    if (first === underscore && end - start === 1) return T.wildcard
    return isUpperCase(first) ? T.upper : T.lower
  }

  #isAt(word: number, start: number, end: number): boolean {
    const text = this.texts[word] as string
    const {length} = text
    if (length !== end - start) return false
    const codes = this.#codes
    const known = this.#starts[word] as number
    if (known === -1) {
      // A reserved word, from now on at this place.
      if (text !== this.#source.slice(start, end)) return false
      this.#starts[word] = start
      return true
    }
    for (let i = 0; i < length; i++) if (codes[known + i] !== codes[start + i]) return false
    return true
  }

  #add(text: string, kind: number, hash: number, start: number): number {
    const word = this.texts.push(text) - 1
    this.kinds.push(kind)
    this.#hashes.push(hash)
    this.#starts.push(start)
    if (this.texts.length * 2 > this.#table.length) {
      this.#table = new Uint32Array(this.#table.length * 4)
      for (let i = 0; i < word; i++) this.#place(i)
    }
    this.#place(word)
    return word
  }

  #place(word: number): void {
    const mask = this.#table.length - 1
    let place = (this.#hashes[word] as number) & mask
    while (this.#table[place] !== 0) place = (place + 1) & mask
    this.#table[place] = word + 1
  }
}
