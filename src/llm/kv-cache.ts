import {type Tensor, tensor} from '../onnx/index.js'

/** Shape of the keys and of the values of one layer. */
export interface CacheLayer {
  kvHeads: number
  headDim: number
}

/** Keys and values of the first positions of a sequence, `[kv_heads, length, head_dim]` per layer. */
export interface KvState {
  length: number
  bytes: number
  layers: readonly Slab[]
}

/** Minimum capacity, positions. Larger capacities are powers of two times this. */
export const minBucket = 256

/** The capacity for `length` positions: the smallest bucket that holds them, limited by the context length. */
export function bucketFor(length: number, contextLength: number): number {
  let capacity = minBucket
  while (capacity < length) capacity *= 2
  return Math.min(capacity, contextLength)
}

/** The smallest power of two that is not less than a number. */
const powerOfTwo = (number: number) => 2 ** Math.ceil(Math.log2(number))

/** Keys and values of one layer. */
interface Slab {
  key: Float32Array
  value: Float32Array
}

/**
 * Keys and values of several sequences, `[slots, kv_heads, capacity, head_dim]` per layer. Each sequence has a slot, and
 * the used slots are contiguous from 0. The graph writes to this memory.
 *
 * The capacity is common to all slots and grows in buckets with the longest sequence. A step reads only the positions
 * used, and the system provides memory only for those, so that a large capacity costs little.
 */
export class KvCache {
  readonly #layers: readonly CacheLayer[]
  readonly #contextLength: number
  #capacity = 0
  #slots = 0
  #lengths: number[] = []
  #slabs: Slab[]
  readonly #views = new Map<string, {key: Tensor; value: Tensor}[]>()

  constructor(layers: readonly CacheLayer[], contextLength: number) {
    this.#layers = layers
    this.#contextLength = contextLength
    this.#slabs = this.#emptySlabs()
  }

  /** Number of sequences. */
  get size(): number {
    return this.#lengths.length
  }

  get capacity(): number {
    return this.#capacity
  }

  /** Number of filled positions of a sequence. */
  length(slot: number): number {
    return this.#lengths[slot] ?? 0
  }

  /** Changes the number of filled positions of a sequence; positions that were filled once keep their contents. */
  setLength(slot: number, length: number): void {
    this.#lengths[slot] = length
  }

  /** Adds a sequence and returns its slot. */
  add(): number {
    this.#lengths.push(0)
    return this.#lengths.length - 1
  }

  /** Copies the first positions of a sequence to another slot, overwriting that one. */
  copy(from: number, to: number, length = this.length(from)): void {
    this.#lengths[to] = length
    if (from === to || length === 0) return
    this.reserve(to, length)
    for (const [i, {kvHeads, headDim}] of this.#layers.entries()) {
      const {key, value} = this.#slabs[i] as Slab
      const row = this.#capacity * headDim
      for (let head = 0; head < kvHeads; head++) {
        const start = (from * kvHeads + head) * row
        const target = (to * kvHeads + head) * row
        key.copyWithin(target, start, start + length * headDim)
        value.copyWithin(target, start, start + length * headDim)
      }
    }
  }

  /** Size of a copy of a number of positions, bytes. */
  bytesOf(positions: number): number {
    const perPosition = this.#layers.reduce((sum, {kvHeads, headDim}) => sum + kvHeads * headDim, 0)
    return 2 * Float32Array.BYTES_PER_ELEMENT * positions * perPosition
  }

  /** A copy of the filled positions of a sequence. */
  save(slot: number): KvState {
    const length = this.length(slot)
    const layers = this.#layers.map((layer, i) => {
      const copy = (slab: Float32Array) => this.#rows(layer, slab, slot, length)
      const {key, value} = this.#slabs[i] as Slab
      return {key: copy(key), value: copy(value)}
    })
    return {length, bytes: this.bytesOf(length), layers}
  }

  /** Fills the first `length` positions of an empty slot with those of a copy. */
  restore(slot: number, {layers, length: saved}: KvState, length: number): void {
    this.reserve(slot, length)
    for (const [i, {kvHeads, headDim}] of this.#layers.entries()) {
      const {key, value} = this.#slabs[i] as Slab
      const {key: savedKey, value: savedValue} = layers[i] as Slab
      for (let head = 0; head < kvHeads; head++) {
        const from = head * saved * headDim
        const to = (slot * kvHeads + head) * this.#capacity * headDim
        key.set(savedKey.subarray(from, from + length * headDim), to)
        value.set(savedValue.subarray(from, from + length * headDim), to)
      }
    }
    this.#lengths[slot] = length
  }

  /** Removes the last sequence; frees the memory if it was the only one. */
  pop(): void {
    this.#lengths.pop()
    if (this.#lengths.length === 0) this.#clear()
  }

  /** Grows the cache to `length` positions in a slot, preserving its contents. */
  reserve(slot: number, length: number): void {
    const slots = slot < this.#slots ? this.#slots : powerOfTwo(this.#lengths.length)
    const capacity = length <= this.#capacity ? this.#capacity : bucketFor(length, this.#contextLength)
    if (slots === this.#slots && capacity === this.#capacity) return
    this.#views.clear()
    // One array at a time, so there are never two copies of the whole cache.
    for (const [i, layer] of this.#layers.entries()) {
      const slab = this.#slabs[i] as Slab
      slab.key = this.#grown(layer, slab.key, slots, capacity)
      slab.value = this.#grown(layer, slab.value, slots, capacity)
    }
    this.#slots = slots
    this.#capacity = capacity
  }

  /** Tensors of every layer over `count` slots from `first`, used both as past inputs and present outputs. */
  tensors(first: number, count: number): readonly {key: Tensor; value: Tensor}[] {
    const name = `${first}+${count}`
    const views = this.#views.get(name) ?? this.#slabs.map((slab, i) => this.#view(i, slab, first, count))
    this.#views.set(name, views)
    return views
  }

  #view(layer: number, {key, value}: Slab, first: number, count: number): {key: Tensor; value: Tensor} {
    const {kvHeads, headDim} = this.#layers[layer] as CacheLayer
    const size = kvHeads * this.#capacity * headDim
    const dims = [count, kvHeads, this.#capacity, headDim]
    const view = (data: Float32Array) => tensor(data.subarray(first * size, (first + count) * size), dims)
    return {key: view(key), value: view(value)}
  }

  /** Copies the first positions of a slot to rows without gaps. */
  #rows({kvHeads, headDim}: CacheLayer, slab: Float32Array, slot: number, length: number): Float32Array {
    const rows = new Float32Array(kvHeads * length * headDim)
    for (let head = 0; head < kvHeads; head++) {
      const from = (slot * kvHeads + head) * this.#capacity * headDim
      rows.set(slab.subarray(from, from + length * headDim), head * length * headDim)
    }
    return rows
  }

  #emptySlabs(): Slab[] {
    return this.#layers.map(() => ({key: new Float32Array(0), value: new Float32Array(0)}))
  }

  #clear(): void {
    this.#slabs = this.#emptySlabs()
    this.#slots = 0
    this.#capacity = 0
    this.#views.clear()
  }

  /** Copies to larger strides: the positions of each head move to the start of its longer row. */
  #grown({kvHeads, headDim}: CacheLayer, old: Float32Array, slots: number, capacity: number): Float32Array {
    const data = new Float32Array(slots * kvHeads * capacity * headDim)
    for (const [slot, length] of this.#lengths.entries()) {
      if (slot >= this.#slots) break
      for (let head = slot * kvHeads; head < (slot + 1) * kvHeads; head++) {
        const from = head * this.#capacity * headDim
        data.set(old.subarray(from, from + length * headDim), head * capacity * headDim)
      }
    }
    return data
  }
}
