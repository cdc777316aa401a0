import {type Tensor, tensor} from '../onnx/index.js'

/** Shape of the keys and of the values of one layer. */
export interface CacheLayer {
  kvHeads: number
  headDim: number
}

/** Smallest capacity, in positions. Larger ones are doublings of it. */
export const smallestBucket = 256

/** The capacity that holds `length` positions: a bucket, cut to the context. */
export function bucketFor(length: number, contextLength: number): number {
  let capacity = smallestBucket
  while (capacity < length) capacity *= 2
  return Math.min(capacity, contextLength)
}

/**
 * Keys and values of one sequence, `[1, kv_heads, capacity, head_dim]` per layer. The graph writes into this memory.
 * The capacity follows the length in buckets, because the runtime's cost of a step grows with the capacity, not with
 * what is used of it: each run copies every declared output once.
 */
export class KvCache {
  readonly #layers: readonly CacheLayer[]
  readonly #contextLength: number
  #capacity = 0
  #length = 0
  #tensors: {key: Tensor; value: Tensor}[] = []

  constructor(layers: readonly CacheLayer[], contextLength: number) {
    this.#layers = layers
    this.#contextLength = contextLength
  }

  /** Positions that are filled. */
  get length(): number {
    return this.#length
  }

  get capacity(): number {
    return this.#capacity
  }

  /** The tensors of every layer, to be fed as the past and fetched as the present. */
  get tensors(): readonly {key: Tensor; value: Tensor}[] {
    return this.#tensors
  }

  /** Makes room for `length` positions in all; what is filled stays. */
  reserve(length: number): void {
    if (length <= this.#capacity) return
    const capacity = bucketFor(length, this.#contextLength)
    this.#tensors = this.#layers.map((layer, i) => ({
      key: this.#grown(layer, this.#tensors[i]?.key, capacity),
      value: this.#grown(layer, this.#tensors[i]?.value, capacity),
    }))
    this.#capacity = capacity
  }

  /** Counts positions that the graph has written. */
  advance(positions: number): void {
    this.#length += positions
  }

  /** Re-strides: each head's positions move to the start of its longer row. */
  #grown({kvHeads, headDim}: CacheLayer, old: Tensor | undefined, capacity: number): Tensor {
    const data = new Float32Array(kvHeads * capacity * headDim)
    if (old !== undefined) {
      const filled = this.#length * headDim
      for (let head = 0; head < kvHeads; head++) {
        const from = head * this.#capacity * headDim
        data.set((old.data as Float32Array).subarray(from, from + filled), head * capacity * headDim)
      }
    }
    return tensor(data, [1, kvHeads, capacity, headDim])
  }
}
