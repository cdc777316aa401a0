import {type Tensor, tensor} from '../../onnx/index.js'

export interface CacheShape {
  layers: number
  heads: number
  headDim: number
}

/** Keys or values, `[rows, heads, length, head_dim]`. */
interface Entry {
  data: Float32Array
  dims: readonly number[]
}

/**
 * KV cache of an exported graph: the output `present.N.decoder.key` becomes the input `past_key_values.N.decoder.key`.
 * Keys and values of the encoder are equal for all rows and are stored once.
 */
export class ExportedCache {
  readonly #shape: CacheShape
  readonly #entries = new Map<string, Entry>()
  #rows = 1
  #length = 0

  constructor(shape: CacheShape) {
    this.#shape = shape
  }

  get rows(): number {
    return this.#rows
  }

  /** Number of past positions. */
  get length(): number {
    return this.#length
  }

  /** The input with a name; empty before the first run. */
  feed(name: string): Tensor {
    const key = name.replace(/^past_key_values\./, '')
    const entry = this.#entries.get(key)
    if (entry === undefined) return tensor(new Float32Array(), [this.#rows, this.#shape.heads, 0, this.#shape.headDim])
    if (!key.includes('.encoder.')) return tensor(entry.data, entry.dims)
    return tensor(gathered(entry, new Array<number>(this.#rows).fill(0)), [this.#rows, ...entry.dims.slice(1)])
  }

  /** Stores the outputs of a run over `time` tokens per row. */
  store(outputs: Readonly<Record<string, Tensor>>, time: number): void {
    for (const [name, {data, dims}] of Object.entries(outputs))
      if (name.startsWith('present.'))
        this.#entries.set(name.slice('present.'.length), {data: data as Float32Array, dims})
    this.#length += time
  }

  /** Replaces row i with the previous row `sources[i]`. */
  select(sources: readonly number[]): void {
    if (sources.length === this.#rows && sources.every((source, i) => source === i)) return
    for (const [key, entry] of this.#entries)
      if (!key.includes('.encoder.'))
        this.#entries.set(key, {data: gathered(entry, sources), dims: [sources.length, ...entry.dims.slice(1)]})
    this.#rows = sources.length
  }
}

function gathered({data, dims}: Entry, sources: readonly number[]): Float32Array {
  const size = data.length / (dims[0] ?? 1)
  if (sources.length === 1 && dims[0] === 1) return data
  const out = new Float32Array(sources.length * size)
  for (const [row, source] of sources.entries()) out.set(data.subarray(source * size, (source + 1) * size), row * size)
  return out
}
