import {readTensorFloat32, type TensorEntry} from '../../src/weights/index.js'
import {biasesOf, isGemma, type TinyModel, tinyConfig} from '../support/tiny-model.js'

/** A low-rank change of a weight, found by reading the adapter's file with the naming of its form. */
export interface ReferenceDelta {
  a: Float32Array
  b: Float32Array
  rank: number
  scale: number
}

/**
 * A stacked decoder written out in plain loops, to hold the engine against: it shares nothing with it but the
 * safetensors reader. Sums are in double precision, results are rounded to 32-bit floats.
 */
export class ReferenceDecoder {
  readonly #model: TinyModel
  readonly #weights: ReadonlyMap<string, Float32Array>
  readonly #rope: Rope
  readonly #deltas: ReadonlyMap<string, ReferenceDelta>

  private constructor(
    model: TinyModel,
    weights: ReadonlyMap<string, Float32Array>,
    rope: Rope,
    deltas: ReadonlyMap<string, ReferenceDelta>,
  ) {
    this.#model = model
    this.#weights = weights
    this.#rope = rope
    this.#deltas = deltas
  }

  static async load(
    model: TinyModel,
    tensors: ReadonlyMap<string, TensorEntry>,
    rope: Rope = rotateHalves,
    deltas: ReadonlyMap<string, ReferenceDelta> = new Map(),
  ) {
    const weights = new Map<string, Float32Array>()
    for (const [name, entry] of tensors) weights.set(name, await readTensorFloat32(entry))
    return new ReferenceDecoder(model, weights, rope, deltas)
  }

  /** Logits of every position, `[tokens][vocabulary]`. */
  logits(tokens: readonly number[]): Float32Array[] {
    const {hiddenSize, layers, vocabSize, tied} = this.#model
    const embedding = this.#weight('model.embed_tokens.weight')
    const scale = isGemma(this.#model) ? Math.sqrt(hiddenSize) : 1
    let hidden: readonly Float32Array[] = tokens.map((token) =>
      embedding.slice(token * hiddenSize, (token + 1) * hiddenSize).map((value) => value * scale),
    )
    for (let layer = 0; layer < layers; layer++) {
      const prefix = `model.layers.${layer}`
      hidden = this.#around(hidden, this.#attentionNorms(prefix), (xs) => this.#attention(layer, prefix, xs))
      hidden = this.#around(hidden, this.#mlpNorms(prefix), (xs) => xs.map((x) => this.#mlp(prefix, x)))
    }
    const head = tied ? 'model.embed_tokens.weight' : 'lm_head.weight'
    const cap = this.#number('final_logit_softcapping', 0)
    return hidden.map((x) => {
      const logits = this.#linear(head, this.#norm(x, 'model.norm.weight'), vocabSize, 'lm_head')
      return cap === 0 ? logits : logits.map((value) => cap * Math.tanh(value / cap))
    })
  }

  /** The hidden states with what a part of a layer adds; norms without a name are left out. */
  #around(
    hidden: readonly Float32Array[],
    [before, after]: readonly [string | undefined, string | undefined],
    part: (inputs: readonly Float32Array[]) => Float32Array[],
  ): Float32Array[] {
    const normed = (x: Float32Array, name: string | undefined) => (name === undefined ? x : this.#norm(x, name))
    const added = part(hidden.map((x) => normed(x, before)))
    return hidden.map((x, i) => add(x, normed(added[i] as Float32Array, after)))
  }

  #attentionNorms(prefix: string): readonly [string, string | undefined] {
    const after = isGemma(this.#model) ? `${prefix}.post_attention_layernorm.weight` : undefined
    return [`${prefix}.input_layernorm.weight`, after]
  }

  #mlpNorms(prefix: string): readonly [string, string | undefined] {
    if (!isGemma(this.#model)) return [`${prefix}.post_attention_layernorm.weight`, undefined]
    return [`${prefix}.pre_feedforward_layernorm.weight`, `${prefix}.post_feedforward_layernorm.weight`]
  }

  /** A number of the configuration. */
  #number(key: string, fallback?: number): number {
    const value = tinyConfig(this.#model)[key] ?? fallback
    if (typeof value !== 'number') throw new Error(`The configuration has no ${key}.`)
    return value
  }

  /** The number of positions that a layer attends to. */
  #reach(layer: number): number {
    const {family, window, firstWindowed} = this.#model
    if (window === null) return Number.POSITIVE_INFINITY
    const isWindowed = isGemma(this.#model)
      ? (layer + 1) % this.#number('sliding_window_pattern', 2) !== 0
      : family === 'mistral' || layer >= firstWindowed
    return isWindowed ? window : Number.POSITIVE_INFINITY
  }

  #attention(layer: number, prefix: string, inputs: readonly Float32Array[]): Float32Array[] {
    const {heads, kvHeads, headDim, hiddenSize, family} = this.#model
    const reach = this.#reach(layer)
    const isLocal = family === 'gemma3_text' && reach < Number.POSITIVE_INFINITY
    const scale = 1 / Math.sqrt(isGemma(this.#model) ? this.#number('query_pre_attn_scalar') : headDim)
    const cap = this.#number('attn_logit_softcapping', 0)
    const limit = (score: number) => (cap === 0 ? score : cap * Math.tanh(score / cap))
    const project = (name: 'q' | 'k' | 'v', count: number, x: Float32Array) => {
      const y = this.#linear(`${prefix}.self_attn.${name}_proj.weight`, x, count * headDim)
      return biasesOf(this.#model).includes(name) ? add(y, this.#weight(`${prefix}.self_attn.${name}_proj.bias`)) : y
    }
    const local = {ropeTheta: this.#number('rope_local_base_freq', 0), ropeScaling: null}
    const frequencies = scaledFrequencies({...this.#model, ...(isLocal ? local : {})})
    const rotated = (name: 'q' | 'k', x: Float32Array, position: number) => {
      for (let start = 0; start < x.length; start += headDim) {
        const head = x.subarray(start, start + headDim)
        if (family === 'qwen3' || family === 'gemma3_text')
          head.set(this.#norm(head, `${prefix}.self_attn.${name}_norm.weight`))
        this.#rope(head, position, frequencies)
      }
      return x
    }
    const keys = inputs.map((x, position) => rotated('k', project('k', kvHeads, x), position))
    const values = inputs.map((x) => project('v', kvHeads, x))
    return inputs.map((x, position) => {
      const query = rotated('q', project('q', heads, x), position)
      const first = Math.max(0, position + 1 - reach)
      const context = new Float32Array(heads * headDim)
      for (let head = 0; head < heads; head++) {
        const shared = Math.floor(head / (heads / kvHeads)) * headDim
        const q = query.subarray(head * headDim, (head + 1) * headDim)
        const weights = new Float64Array(position + 1 - first)
        for (let past = 0; past < weights.length; past++)
          weights[past] = limit(scale * dot(q, keys[first + past] as Float32Array, shared))
        softmax(weights)
        for (let past = 0; past < weights.length; past++) {
          const [weight, value] = [weights[past] as number, values[first + past] as Float32Array]
          for (let d = 0; d < headDim; d++) context[head * headDim + d]! += weight * (value[shared + d] as number)
        }
      }
      return this.#linear(`${prefix}.self_attn.o_proj.weight`, context, hiddenSize)
    })
  }

  #mlp(prefix: string, x: Float32Array): Float32Array {
    const {intermediateSize, hiddenSize} = this.#model
    const gate = this.#linear(`${prefix}.mlp.gate_proj.weight`, x, intermediateSize)
    const up = this.#linear(`${prefix}.mlp.up_proj.weight`, x, intermediateSize)
    const silu = (value: number) => value / (1 + Math.exp(-value))
    const activation = isGemma(this.#model) ? geluByTanh : silu
    const activated = gate.map((value, i) => activation(value) * (up[i] as number))
    return this.#linear(`${prefix}.mlp.down_proj.weight`, activated, hiddenSize)
  }

  /** W x + scale * B A x; `deltaName` where the change goes by another name than the weight. */
  #linear(name: string, x: Float32Array, rows: number, deltaName = name): Float32Array {
    const y = multiply(this.#weight(name), x, rows)
    const delta = this.#deltas.get(deltaName)
    if (delta === undefined) return y
    const change = multiply(delta.b, multiply(delta.a, x, delta.rank), rows)
    return y.map((value, i) => value + delta.scale * (change[i] as number))
  }

  #norm(x: Float32Array, name: string): Float32Array {
    const scale = this.#weight(name)
    const offset = isGemma(this.#model) ? 1 : 0
    const root = Math.sqrt(dot(x, x) / x.length + 1e-5)
    return x.map((value, i) => (value / root) * (offset + (scale[i] as number)))
  }

  #weight(name: string): Float32Array {
    const weight = this.#weights.get(name)
    if (weight === undefined) throw new Error(`The reference has no tensor ${name}.`)
    return weight
  }
}

/** Angle per position of each pair, and what the turned vector is multiplied by. */
export interface Frequencies {
  angles: readonly number[]
  magnitude: number
}

/** Written after `modeling_rope_utils.py` of transformers. */
function scaledFrequencies({ropeTheta, ropeScaling, headDim, contextLength}: TinyModel): Frequencies {
  const inverse = Array.from({length: headDim / 2}, (_, j) => 1 / ropeTheta ** ((2 * j) / headDim))
  if (ropeScaling === null) return {angles: inverse, magnitude: 1}
  const value = (key: string, fallback?: number) => Number(ropeScaling[key] ?? fallback)
  const factor = value('factor')
  const original = value('original_max_position_embeddings', contextLength)
  if (ropeScaling.rope_type === 'linear') return {angles: inverse.map((f) => f / factor), magnitude: 1}
  if (ropeScaling.rope_type === 'llama3') {
    const [low, high] = [value('low_freq_factor'), value('high_freq_factor')]
    const angles = inverse.map((frequency) => {
      const wavelength = (2 * Math.PI) / frequency
      if (wavelength < original / high) return frequency
      if (wavelength > original / low) return frequency / factor
      const smooth = (original / wavelength - low) / (high - low)
      return ((1 - smooth) * frequency) / factor + smooth * frequency
    })
    return {angles, magnitude: 1}
  }
  const correction = (rotations: number) =>
    (headDim * Math.log(original / (rotations * 2 * Math.PI))) / (2 * Math.log(ropeTheta))
  const low = Math.max(Math.floor(correction(value('beta_fast', 32))), 0)
  const high = Math.min(Math.ceil(correction(value('beta_slow', 1))), headDim - 1)
  const angles = inverse.map((frequency, j) => {
    const ramp = Math.min(1, Math.max(0, (j - low) / (high - low || 0.001)))
    const extrapolation = 1 - ramp
    return (frequency / factor) * (1 - extrapolation) + frequency * extrapolation
  })
  return {angles, magnitude: value('attention_factor', 0.1 * Math.log(factor) + 1)}
}

/** Turns one head's vector, in place, by its position. */
export type Rope = (head: Float32Array, position: number, frequencies: Frequencies) => void

/** Element j of the first half pairs with element j of the second, as Hugging Face lays these models out. */
export const rotateHalves: Rope = (head, position, {angles, magnitude}) => {
  const half = head.length / 2
  for (const [j, frequency] of angles.entries()) {
    const angle = position * frequency
    const [cos, sin] = [magnitude * Math.cos(angle), magnitude * Math.sin(angle)]
    const [a, b] = [head[j] as number, head[j + half] as number]
    head[j] = a * cos - b * sin
    head[j + half] = b * cos + a * sin
  }
}

/** The mistake of taking the second half for the first. */
export const rotateSwappedHalves: Rope = (head, position, frequencies) => {
  const half = head.length / 2
  const swap = () => head.set([...head.subarray(half), ...head.subarray(0, half)])
  swap()
  rotateHalves(head, position, frequencies)
  swap()
}

/** Source: Hendrycks and Gimpel 2016. */
const geluByTanh = (x: number) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044_715 * x ** 3)))

function multiply(matrix: Float32Array, x: Float32Array, rows: number): Float32Array {
  const out = new Float32Array(rows)
  for (let row = 0, at = 0; row < rows; row++) {
    let sum = 0
    for (let i = 0; i < x.length; i++, at++) sum += (matrix[at] as number) * (x[i] as number)
    out[row] = sum
  }
  return out
}

/** @param from where the other vector begins in `b` */
function dot(a: Float32Array, b: Float32Array, from = 0): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[from + i] as number)
  return sum
}

const add = (a: Float32Array, b: Float32Array) => a.map((value, i) => value + (b[i] as number))

/** In place. */
function softmax(scores: Float64Array): void {
  const highest = scores.reduce((most, score) => Math.max(most, score), Number.NEGATIVE_INFINITY)
  let total = 0
  for (let i = 0; i < scores.length; i++) total += scores[i] = Math.exp((scores[i] as number) - highest)
  for (let i = 0; i < scores.length; i++) scores[i]! /= total
}
