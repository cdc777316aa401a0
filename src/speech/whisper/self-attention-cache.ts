import {type Tensor, tensor} from '../../onnx/index.js'

const minCapacity = 32

/**
 * Self-attention keys and values of the past tokens, `[past, batch, hidden]` per layer. Time is the first dimension, so
 * that a step appends one contiguous block and the past is fed without copying.
 */
export class SelfAttentionCache {
  readonly #hiddenSize: number
  readonly #layers: {key: Float32Array; value: Float32Array}[]
  #batch = 1
  #length = 0
  #capacity = 0

  constructor(layers: number, hiddenSize: number) {
    this.#hiddenSize = hiddenSize
    this.#layers = Array.from({length: layers}, () => ({key: new Float32Array(), value: new Float32Array()}))
  }

  get batch(): number {
    return this.#batch
  }

  /** Number of filled positions. */
  get length(): number {
    return this.#length
  }

  /** The filled positions as the inputs `past_key.N` and `past_value.N`. */
  feeds(): Record<string, Tensor> {
    const size = this.#batch * this.#hiddenSize
    const dims = [this.#length, this.#batch, this.#hiddenSize]
    const view = (data: Float32Array) => tensor(data.subarray(0, this.#length * size), dims)
    return Object.fromEntries(
      this.#layers.flatMap(({key, value}, i) => [
        [`past_key.${i}`, view(key)],
        [`past_value.${i}`, view(value)],
      ]),
    )
  }

  /** Appends the outputs `key.N` and `value.N` of a run over `time` tokens per row. */
  append(outputs: Readonly<Record<string, Tensor>>, time: number): void {
    const size = this.#batch * this.#hiddenSize
    this.#reserve(this.#length + time)
    for (const [i, {key, value}] of this.#layers.entries()) {
      key.set((outputs[`key.${i}`] as Tensor).data as Float32Array, this.#length * size)
      value.set((outputs[`value.${i}`] as Tensor).data as Float32Array, this.#length * size)
    }
    this.#length += time
  }

  /** Replaces row i with the previous row `sources[i]`. */
  select(sources: readonly number[]): void {
    if (sources.length === this.#batch && sources.every((source, i) => source === i)) return
    const batch = sources.length
    for (const layer of this.#layers) {
      layer.key = this.#selected(layer.key, sources)
      layer.value = this.#selected(layer.value, sources)
    }
    this.#batch = batch
  }

  /** Reorders rows, in place if their number does not change, as in the steps of a beam search. */
  #selected(data: Float32Array, sources: readonly number[]): Float32Array {
    const size = this.#hiddenSize
    const [from, to] = [this.#batch * size, sources.length * size]
    const same = from === to
    const target = same ? data : new Float32Array(this.#capacity * to)
    const step = new Float32Array(from)
    for (let position = 0; position < this.#length; position++) {
      step.set(data.subarray(position * from, (position + 1) * from))
      for (let row = 0; row < sources.length; row++) {
        const source = sources[row]!
        if (same && source === row) continue
        target.set(step.subarray(source * size, (source + 1) * size), position * to + row * size)
      }
    }
    return target
  }

  #reserve(length: number): void {
    if (length <= this.#capacity) return
    const size = this.#batch * this.#hiddenSize
    let capacity = Math.max(minCapacity, this.#capacity)
    while (capacity < length) capacity *= 2
    const grown = (data: Float32Array) => {
      const larger = new Float32Array(capacity * size)
      larger.set(data.subarray(0, this.#length * size))
      return larger
    }
    for (const layer of this.#layers) {
      layer.key = grown(layer.key)
      layer.value = grown(layer.value)
    }
    this.#capacity = capacity
  }
}
