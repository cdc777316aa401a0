import type {TokenTrie} from './token-trie.js'

/** Names the format in caches: another format has another name. */
export const trieFormat = 'token-trie-1'

const {BYTES_PER_ELEMENT: word} = Int32Array
const fields = 6

/**
 * A trie as bytes: a header of 32-bit little-endian integers, `trieFormat` aside, and its arrays, each padded to four bytes.
 * The bytes are the same for the same vocabulary.
 */
export function writeTokenTrie(trie: TokenTrie): Uint8Array {
  const {byte, depth, end, token, twins, offsets, bytes, size, longest} = trie
  const header = Int32Array.of(size, byte.length, twins.length, bytes.length, longest, 0)
  const parts = [header, end, token, twins, offsets, depth, byte, bytes]
  const lengths = parts.map(({byteLength}) => padded(byteLength))
  const stored = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0))
  let at = 0
  for (const [i, part] of parts.entries()) {
    stored.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at)
    at += lengths[i]!
  }
  return stored
}

const padded = (length: number) => Math.ceil(length / word) * word

/** Reads what `writeTokenTrie` wrote, without copying it; undefined if the lengths do not fit. */
export function readTokenTrie(stored: Uint8Array): TokenTrie | undefined {
  if (stored.length < fields * word) return undefined
  // Arrays of 32-bit integers must begin at a multiple of four bytes.
  const {buffer, byteOffset} = stored.byteOffset % word === 0 ? stored : Uint8Array.from(stored)
  const [size = 0, nodes = 0, pairs = 0, text = 0, longest = 0] = new Int32Array(buffer, byteOffset, fields)
  const lengths = [nodes * word, nodes * word, pairs * word, (size + 1) * word, nodes * 2, nodes, text]
  const total = lengths.reduce((sum, length) => sum + padded(length), fields * word)
  if ([size, nodes, pairs, text].some((count) => count < 0) || total !== stored.length) return undefined
  let at = byteOffset + fields * word
  const take = (length: number) => {
    const from = at
    at += padded(length)
    return from
  }
  return {
    size,
    longest,
    end: new Int32Array(buffer, take(nodes * word), nodes),
    token: new Int32Array(buffer, take(nodes * word), nodes),
    twins: new Int32Array(buffer, take(pairs * word), pairs),
    offsets: new Int32Array(buffer, take((size + 1) * word), size + 1),
    depth: new Uint16Array(buffer, take(nodes * 2), nodes),
    byte: new Uint8Array(buffer, take(nodes), nodes),
    bytes: new Uint8Array(buffer, take(text), text),
  }
}
