import {readTensorFloat32, type TensorEntry} from '../../src/weights/index.js'
import type {TinyLlama} from '../support/tiny-llama.js'

/**
 * Llama written out in plain loops, to hold the engine against: it shares nothing with it but the safetensors reader.
 * Sums are in double precision, results are rounded to 32-bit floats.
 */
export class ReferenceLlama {
  readonly #model: TinyLlama
  readonly #weights: ReadonlyMap<string, Float32Array>
  readonly #rope: Rope

  private constructor(model: TinyLlama, weights: ReadonlyMap<string, Float32Array>, rope: Rope) {
    this.#model = model
    this.#weights = weights
    this.#rope = rope
  }

  static async load(model: TinyLlama, tensors: ReadonlyMap<string, TensorEntry>, rope: Rope = rotateHalves) {
    const weights = new Map<string, Float32Array>()
    for (const [name, entry] of tensors) weights.set(name, await readTensorFloat32(entry))
    return new ReferenceLlama(model, weights, rope)
  }

  /** Logits of every position, `[tokens][vocabulary]`. */
  logits(tokens: readonly number[]): Float32Array[] {
    const {hiddenSize, layers, vocabSize, tied} = this.#model
    const embedding = this.#weight('model.embed_tokens.weight')
    let hidden = tokens.map((token) => embedding.slice(token * hiddenSize, (token + 1) * hiddenSize))
    for (let layer = 0; layer < layers; layer++) {
      const prefix = `model.layers.${layer}`
      const attended = this.#attention(
        prefix,
        hidden.map((x) => this.#norm(x, `${prefix}.input_layernorm.weight`)),
      )
      hidden = hidden.map((x, i) => add(x, attended[i] as Float32Array))
      hidden = hidden.map((x) => add(x, this.#mlp(prefix, this.#norm(x, `${prefix}.post_attention_layernorm.weight`))))
    }
    const head = tied ? embedding : this.#weight('lm_head.weight')
    return hidden.map((x) => multiply(head, this.#norm(x, 'model.norm.weight'), vocabSize))
  }

  #attention(prefix: string, inputs: readonly Float32Array[]): Float32Array[] {
    const {heads, kvHeads, headDim, hiddenSize, ropeTheta} = this.#model
    const project = (name: string, count: number, x: Float32Array) =>
      multiply(this.#weight(`${prefix}.self_attn.${name}_proj.weight`), x, count * headDim)
    const rotated = (x: Float32Array, position: number) => {
      for (let start = 0; start < x.length; start += headDim)
        this.#rope(x.subarray(start, start + headDim), position, ropeTheta)
      return x
    }
    const keys = inputs.map((x, position) => rotated(project('k', kvHeads, x), position))
    const values = inputs.map((x) => project('v', kvHeads, x))
    return inputs.map((x, position) => {
      const query = rotated(project('q', heads, x), position)
      const context = new Float32Array(heads * headDim)
      for (let head = 0; head < heads; head++) {
        const shared = Math.floor(head / (heads / kvHeads)) * headDim
        const q = query.subarray(head * headDim, (head + 1) * headDim)
        const scores = keys
          .slice(0, position + 1)
          .map((key) => dot(q, key.subarray(shared, shared + headDim)) / Math.sqrt(headDim))
        const weights = softmax(scores)
        for (const [past, weight] of weights.entries())
          for (let d = 0; d < headDim; d++)
            context[head * headDim + d]! += weight * ((values[past] as Float32Array)[shared + d] as number)
      }
      return multiply(this.#weight(`${prefix}.self_attn.o_proj.weight`), context, hiddenSize)
    })
  }

  #mlp(prefix: string, x: Float32Array): Float32Array {
    const {intermediateSize, hiddenSize} = this.#model
    const gate = multiply(this.#weight(`${prefix}.mlp.gate_proj.weight`), x, intermediateSize)
    const up = multiply(this.#weight(`${prefix}.mlp.up_proj.weight`), x, intermediateSize)
    const activated = gate.map((value, i) => (value / (1 + Math.exp(-value))) * (up[i] as number))
    return multiply(this.#weight(`${prefix}.mlp.down_proj.weight`), activated, hiddenSize)
  }

  #norm(x: Float32Array, name: string): Float32Array {
    const scale = this.#weight(name)
    const root = Math.sqrt(dot(x, x) / x.length + 1e-5)
    return x.map((value, i) => (value / root) * (scale[i] as number))
  }

  #weight(name: string): Float32Array {
    const weight = this.#weights.get(name)
    if (weight === undefined) throw new Error(`The reference has no tensor ${name}.`)
    return weight
  }
}

/** Turns one head's vector, in place, by its position. */
export type Rope = (head: Float32Array, position: number, theta: number) => void

/** Element j of the first half pairs with element j of the second, as Hugging Face lays Llama out. */
export const rotateHalves: Rope = (head, position, theta) => {
  const half = head.length / 2
  for (let j = 0; j < half; j++) {
    const angle = position * theta ** ((-2 * j) / head.length)
    const [a, b] = [head[j] as number, head[j + half] as number]
    head[j] = a * Math.cos(angle) - b * Math.sin(angle)
    head[j + half] = b * Math.cos(angle) + a * Math.sin(angle)
  }
}

/** The mistake of taking the second half for the first. */
export const rotateSwappedHalves: Rope = (head, position, theta) => {
  const half = head.length / 2
  const swap = () => head.set([...head.subarray(half), ...head.subarray(0, half)])
  swap()
  rotateHalves(head, position, theta)
  swap()
}

function multiply(matrix: Float32Array, x: Float32Array, rows: number): Float32Array {
  return Float32Array.from({length: rows}, (_, row) => dot(matrix.subarray(row * x.length, (row + 1) * x.length), x))
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number)
  return sum
}

const add = (a: Float32Array, b: Float32Array) => a.map((value, i) => value + (b[i] as number))

function softmax(scores: readonly number[]): number[] {
  const highest = Math.max(...scores)
  const weights = scores.map((score) => Math.exp(score - highest))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => weight / total)
}
