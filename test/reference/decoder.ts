import {readTensorFloat32, type TensorEntry} from '../../src/weights/index.js'
import {
  addsToNorms,
  biasesOf,
  isGemma,
  isWideIn,
  layerInputSize,
  nameIn,
  recurrentIn,
  sourceIn,
  type TinyModel,
  tinyConfig,
} from '../support/tiny-model.js'
import {type LayerWeights, referenceDeltaNet, referenceMamba2} from './recurrent.js'

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
  readonly #config: Readonly<Record<string, unknown>>
  /** Names of tensors by those of Llama, because each product looks one up. */
  readonly #names = new Map<string, string>()
  readonly #weights: ReadonlyMap<string, Float32Array>
  readonly #rope: Rope
  readonly #deltas: ReadonlyMap<string, ReferenceDelta>
  /** Keys and values of the layers of the last run. */
  #kept: KeysAndValues[] = []

  private constructor(
    model: TinyModel,
    weights: ReadonlyMap<string, Float32Array>,
    rope: Rope,
    deltas: ReadonlyMap<string, ReferenceDelta>,
  ) {
    this.#model = model
    this.#config = tinyConfig(model)
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

  /** The same model with changes of its weights. */
  with(deltas: ReadonlyMap<string, ReferenceDelta>): ReferenceDecoder {
    return new ReferenceDecoder(this.#model, this.#weights, this.#rope, deltas)
  }

  /** Logits of every position, `[tokens][vocabulary]`. */
  logits(tokens: readonly number[]): Float32Array[] {
    const {hiddenSize, layers, vocabSize, tied} = this.#model
    const embedding = this.#weight('model.embed_tokens.weight')
    const scale = isGemma(this.#model) ? Math.sqrt(hiddenSize) : this.#number('embedding_multiplier', 1)
    let hidden: readonly Float32Array[] = tokens.map((token) =>
      embedding.slice(token * hiddenSize, (token + 1) * hiddenSize).map((value) => value * scale),
    )
    const inputs = this.#model.family === 'gemma4_text' ? this.#layerInputs(tokens, hidden) : []
    for (let layer = 0; layer < layers; layer++) {
      const prefix = `model.layers.${layer}`
      hidden = this.#around(hidden, this.#attentionNorms(prefix), (xs) =>
        recurrentIn(this.#model, layer) === undefined
          ? this.#attention(layer, prefix, xs)
          : this.#recurrent(prefix, xs),
      )
      hidden = this.#around(hidden, this.#mlpNorms(prefix), (xs) => xs.map((x) => this.#mlp(layer, prefix, x)))
      if (inputs.length > 0) hidden = this.#withInputs(layer, prefix, hidden, inputs)
    }
    const head = tied ? 'model.embed_tokens.weight' : 'lm_head.weight'
    const cap = this.#number('final_logit_softcapping', 0)
    const divisor = this.#number('logits_scaling', 1)
    return hidden.map((x) => {
      const products = this.#linear(head, this.#norm(x, 'model.norm.weight'), vocabSize, 'lm_head')
      const logits = products.map((value) => value / divisor)
      return cap === 0 ? logits : logits.map((value) => cap * Math.tanh(value / cap))
    })
  }

  /** The inputs of all layers at each position. Source: the Gemma 4 release of Google DeepMind 2026. */
  #layerInputs(tokens: readonly number[], embedded: readonly Float32Array[]): Float32Array[] {
    const {layers, hiddenSize} = this.#model
    const whole = layers * layerInputSize
    const table = this.#weight('model.embed_tokens_per_layer.weight')
    return tokens.map((token, position) => {
      const projected = this.#linear('model.per_layer_model_projection.weight', embedded[position]!, whole)
      const parts = projected.map((value) => value / Math.sqrt(hiddenSize))
      for (let at = 0; at < whole; at += layerInputSize) {
        const part = parts.subarray(at, at + layerInputSize)
        part.set(this.#norm(part, 'model.per_layer_projection_norm.weight'))
      }
      const own = (i: number) => Math.sqrt(layerInputSize) * (table[token * whole + i] as number)
      return parts.map((value, i) => (value + own(i)) / Math.SQRT2)
    })
  }

  #withInputs(
    layer: number,
    prefix: string,
    hidden: readonly Float32Array[],
    inputs: readonly Float32Array[],
  ): Float32Array[] {
    const {hiddenSize} = this.#model
    const scale = this.#weight(`${prefix}.layer_scalar`)[0] as number
    return hidden.map((x, position) => {
      const gate = this.#linear(`${prefix}.per_layer_input_gate.weight`, x, layerInputSize)
      const own = inputs[position]?.subarray(layer * layerInputSize, (layer + 1) * layerInputSize)
      const product = gate.map((value, i) => geluByTanh(value) * (own?.[i] as number))
      const back = this.#linear(`${prefix}.per_layer_projection.weight`, product, hiddenSize)
      const normed = this.#norm(back, `${prefix}.post_per_layer_input_norm.weight`)
      return add(x, normed).map((value) => value * scale)
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
    const multiplier = this.#number('residual_multiplier', 1)
    return hidden.map((x, i) =>
      add(
        x,
        normed(added[i] as Float32Array, after).map((value) => multiplier * value),
      ),
    )
  }

  #attentionNorms(prefix: string): readonly [string | undefined, string | undefined] {
    if (this.#model.family === 'olmo2') return [undefined, `${prefix}.post_attention_layernorm.weight`]
    const after = isGemma(this.#model) ? `${prefix}.post_attention_layernorm.weight` : undefined
    return [`${prefix}.input_layernorm.weight`, after]
  }

  #mlpNorms(prefix: string): readonly [string | undefined, string | undefined] {
    if (this.#model.family === 'olmo2') return [undefined, `${prefix}.post_feedforward_layernorm.weight`]
    if (!isGemma(this.#model)) return [`${prefix}.post_attention_layernorm.weight`, undefined]
    return [`${prefix}.pre_feedforward_layernorm.weight`, `${prefix}.post_feedforward_layernorm.weight`]
  }

  /** A number of the configuration. */
  #number(key: string, fallback?: number): number {
    const value = this.#config[key] ?? fallback
    if (typeof value !== 'number') throw new Error(`The configuration has no ${key}.`)
    return value
  }

  /** The number of positions that a layer attends to. */
  #reach(layer: number): number {
    const {family, window, firstWindowed} = this.#model
    if (window === null || isWideIn(this.#model, layer)) return Number.POSITIVE_INFINITY
    if (family === 'gemma4_text') return window
    const isWindowed = isGemma(this.#model)
      ? (layer + 1) % this.#number('sliding_window_pattern', 2) !== 0
      : family === 'mistral' || layer >= firstWindowed
    return isWindowed ? window : Number.POSITIVE_INFINITY
  }

  #recurrent(prefix: string, inputs: readonly Float32Array[]): Float32Array[] {
    const {hiddenSize, family} = this.#model
    if (family === 'lfm2') return this.#convolution(prefix, inputs)
    const part = `${prefix}.${family === 'qwen3_5_text' ? 'linear_attn' : 'mamba'}`
    const weights: LayerWeights = {
      weight: (name) => this.#weight(`${part}.${name}`),
      linear: (name, x, rows) => this.#linear(`${part}.${name}`, x, rows),
    }
    if (family === 'qwen3_5_text') {
      const sizes = {
        keyHeads: this.#number('linear_num_key_heads'),
        keyDim: this.#number('linear_key_head_dim'),
        valueHeads: this.#number('linear_num_value_heads'),
        valueDim: this.#number('linear_value_head_dim'),
      }
      return referenceDeltaNet(weights, {hiddenSize, ...sizes, epsilon: 1e-5}, inputs)
    }
    const [heads, groups] = [this.#number('mamba_n_heads'), this.#number('mamba_n_groups')]
    const sizes = {heads, headDim: (2 * hiddenSize) / heads, groups, stateSize: this.#number('mamba_d_state')}
    return referenceMamba2(weights, {hiddenSize, ...sizes, epsilon: 1e-5, hasBiases: false}, inputs)
  }

  /** Source: Liquid AI 2025. */
  #convolution(prefix: string, inputs: readonly Float32Array[]): Float32Array[] {
    const {hiddenSize} = this.#model
    const kernel = this.#weight(`${prefix}.conv.conv.weight`)
    const width = kernel.length / hiddenSize
    const biased = (name: string, y: Float32Array) => {
      const bias = this.#weights.get(`${prefix}.conv.${name}.bias`)
      return bias === undefined ? y : add(y, bias)
    }
    const projected = inputs.map((x) =>
      biased('in_proj', this.#linear(`${prefix}.conv.in_proj.weight`, x, 3 * hiddenSize)),
    )
    const gated = projected.map((each) =>
      each.slice(0, hiddenSize).map((b, i) => b * (each[2 * hiddenSize + i] as number)),
    )
    return projected.map((each, position) => {
      const sums = new Float32Array(hiddenSize).map((_, channel) => {
        let sum = 0
        for (let back = 0; back < width && back <= position; back++)
          sum += (kernel[(channel + 1) * width - 1 - back] as number) * (gated[position - back]?.[channel] as number)
        return sum
      })
      const output = biased('conv', sums).map((sum, channel) => sum * (each[hiddenSize + channel] as number))
      return biased('out_proj', this.#linear(`${prefix}.conv.out_proj.weight`, output, hiddenSize))
    })
  }

  #attention(layer: number, prefix: string, inputs: readonly Float32Array[]): Float32Array[] {
    const {heads, kvHeads, hiddenSize, family} = this.#model
    const headDim = (isWideIn(this.#model, layer) ? 2 : 1) * this.#model.headDim
    const reach = this.#reach(layer)
    const hasGates = family === 'qwen3_5_text'
    const isLocal = family === 'gemma3_text' && reach < Number.POSITIVE_INFINITY
    const isUnscaled = family === 'gemma4_text'
    const square = isUnscaled ? 1 : isGemma(this.#model) ? this.#number('query_pre_attn_scalar') : headDim
    const scale = this.#number('attention_multiplier', 1 / Math.sqrt(square))
    const cap = this.#number('attn_logit_softcapping', 0)
    const limit = (score: number) => (cap === 0 ? score : cap * Math.tanh(score / cap))
    const firstHead = {q: 0, k: heads, v: heads + kvHeads}
    const project = (name: 'q' | 'k' | 'v', count: number, x: Float32Array) => {
      const fused = {name: `${prefix}.self_attn.qkv_proj.weight`, first: firstHead[name] * headDim}
      const y = this.#part(`${prefix}.self_attn.${name}_proj.weight`, x, count * headDim, fused)
      return biasesOf(this.#model).includes(name) ? add(y, this.#weight(`${prefix}.self_attn.${name}_proj.bias`)) : y
    }
    const local = {ropeTheta: this.#number('rope_local_base_freq', 0), ropeScaling: null}
    const frequencies =
      family === 'gemma4_text'
        ? gemma4Frequencies(this.#model, layer)
        : scaledFrequencies({...this.#model, ...(isLocal ? local : {})})
    const rotated = (name: 'q' | 'k', x: Float32Array, position: number) => {
      if (family === 'olmo2') x.set(this.#norm(x, `${prefix}.self_attn.${name}_norm.weight`))
      for (let start = 0; start < x.length; start += headDim) {
        const head = x.subarray(start, start + headDim)
        if (/^(qwen3|gemma[34]|lfm2)/.test(family))
          head.set(this.#norm(head, `${prefix}.self_attn.${name}_norm.weight`))
        const turned = head.subarray(0, 2 * frequencies.angles.length)
        if (family !== 'granitemoehybrid' && (family !== 'smollm3' || (layer + 1) % 4 !== 0))
          this.#rope(turned, position, frequencies)
      }
      const factor = name === 'q' ? this.#growth(position) : 1
      return factor === 1 ? x : x.map((value) => value * factor)
    }
    const source = sourceIn(this.#model, layer)
    const own = () => ({
      keys: inputs.map((x, position) => rotated('k', project('k', kvHeads, x), position)),
      values: inputs.map((x) => {
        const value = project('v', kvHeads, x)
        return family === 'gemma4_text' ? unitHeads(value, headDim) : value
      }),
    })
    const kept = source === undefined ? own() : this.#kept[source]
    this.#kept[layer] = kept as KeysAndValues
    const {keys, values} = kept as KeysAndValues
    return inputs.map((x, position) => {
      const all = project('q', hasGates ? 2 * heads : heads, x)
      // In Qwen3.5, the gate of each head follows its query.
      const part = (from: number) =>
        new Float32Array(heads * headDim).map((_, i) => all[i + headDim * (Math.floor(i / headDim) + from)] as number)
      const query = rotated('q', hasGates ? part(0) : all, position)
      const first = Math.max(0, position + 1 - reach)
      const context = new Float32Array(heads * headDim)
      const weights = new Float64Array(position + 1 - first)
      for (let head = 0; head < heads; head++) {
        const shared = Math.floor(head / (heads / kvHeads)) * headDim
        const q = query.subarray(head * headDim, (head + 1) * headDim)
        for (let past = 0; past < weights.length; past++)
          weights[past] = limit(scale * dot(q, keys[first + past] as Float32Array, shared))
        softmax(weights)
        for (let past = 0; past < weights.length; past++) {
          const weight = weights[past] as number
          const value = values[first + past] as Float32Array
          for (let d = 0; d < headDim; d++) context[head * headDim + d]! += weight * (value[shared + d] as number)
        }
      }
      const gates = hasGates ? part(1) : undefined
      const output = context.map(
        (value, i) => value / (1 + (gates === undefined ? 0 : Math.exp(-(gates[i] as number)))),
      )
      return this.#linear(`${prefix}.self_attn.o_proj.weight`, output, hiddenSize)
    })
  }

  /** The factor of a query. Source: the Llama 4 release. */
  #growth(position: number): number {
    const {ropeScaling} = this.#model
    const beta = Number(ropeScaling?.llama_4_scaling_beta ?? 0)
    if (beta === 0) return 1
    return 1 + beta * Math.log(1 + Math.floor(position / Number(ropeScaling?.original_max_position_embeddings)))
  }

  #mlp(layer: number, prefix: string, x: Float32Array): Float32Array {
    const {family} = this.#model
    const intermediateSize = (sourceIn(this.#model, layer) === undefined ? 1 : 2) * this.#model.intermediateSize
    if (family === 'qwen3_moe' && this.#weights.has(`${prefix}.mlp.gate.weight`)) return this.#experts(prefix, x)
    return this.#feedForward(`${prefix}.mlp`, intermediateSize, x)
  }

  #experts(prefix: string, x: Float32Array): Float32Array {
    const shares = Float64Array.from(this.#linear(`${prefix}.mlp.gate.weight`, x, this.#number('num_experts')))
    softmax(shares)
    const order = [...shares.keys()].sort((a, b) => (shares[b] as number) - (shares[a] as number))
    const used = order.slice(0, this.#number('num_experts_per_tok'))
    const total = used.reduce((sum, i) => sum + (shares[i] as number), 0)
    return used
      .map((i) =>
        this.#feedForward(`${prefix}.mlp.experts.${i}`, this.#number('moe_intermediate_size'), x).map(
          (value) => (value * (shares[i] as number)) / total,
        ),
      )
      .reduce((sum, each) => add(sum, each))
  }

  #feedForward(prefix: string, intermediateSize: number, x: Float32Array): Float32Array {
    const {hiddenSize} = this.#model
    const half = (name: string, first: number) =>
      this.#part(`${prefix}.${name}_proj.weight`, x, intermediateSize, {
        name: `${prefix}.gate_up_proj.weight`,
        first,
      })
    const [gate, up] = [half('gate', 0), half('up', intermediateSize)]
    const silu = (value: number) => value / (1 + Math.exp(-value))
    const activation = isGemma(this.#model) ? geluByTanh : silu
    const activated = gate.map((value, i) => activation(value) * (up[i] as number))
    return this.#linear(`${prefix}.down_proj.weight`, activated, hiddenSize)
  }

  /** Some rows of a product: of a matrix of their own, or of a fused one, from `first` on. */
  #part(name: string, x: Float32Array, rows: number, fused: {name: string; first: number}): Float32Array {
    const weight = this.#weights.get(this.#nameOf(fused.name))
    if (weight === undefined) return this.#linear(name, x, rows)
    const all = this.#linear(fused.name, x, weight.length / x.length)
    return this.#changed(all.slice(fused.first, fused.first + rows), x, this.#nameOf(name))
  }

  /** W x + scale * B A x; `deltaName` where the change goes by another name than the weight. */
  #linear(name: string, x: Float32Array, rows: number, deltaName = this.#nameOf(name)): Float32Array {
    return this.#changed(multiply(this.#weight(name), x, rows), x, deltaName)
  }

  #changed(y: Float32Array, x: Float32Array, deltaName: string): Float32Array {
    const delta = this.#deltas.get(deltaName)
    if (delta === undefined) return y
    const change = multiply(delta.b, multiply(delta.a, x, delta.rank), y.length)
    return y.map((value, i) => value + delta.scale * (change[i] as number))
  }

  #norm(x: Float32Array, name: string): Float32Array {
    const scale = this.#weight(name)
    const offset = addsToNorms(this.#model) ? 1 : 0
    const root = Math.sqrt(dot(x, x) / x.length + 1e-5)
    return x.map((value, i) => (value / root) * (offset + (scale[i] as number)))
  }

  #nameOf(name: string): string {
    const known = this.#names.get(name) ?? nameIn(this.#model, name)
    this.#names.set(name, known)
    return known
  }

  /** @param name as in Llama */
  #weight(name: string): Float32Array {
    const weight = this.#weights.get(this.#nameOf(name))
    if (weight === undefined) throw new Error(`The reference has no tensor ${name}.`)
    return weight
  }
}

interface KeysAndValues {
  keys: readonly Float32Array[]
  values: readonly Float32Array[]
}

/** Each head divided by the root of its mean square. */
const unitHeads = (x: Float32Array, headDim: number) =>
  x.map((value, i) => {
    const start = i - (i % headDim)
    const head = x.subarray(start, start + headDim)
    return value / Math.sqrt(dot(head, head) / headDim + 1e-5)
  })

/** A quarter of the pairs of layers without a window are turned, with the frequencies of the complete head. */
function gemma4Frequencies(model: TinyModel, layer: number): Frequencies {
  const isWide = isWideIn(model, layer)
  const headDim = (isWide ? 2 : 1) * model.headDim
  const theta = isWide ? model.ropeTheta : 1000
  const angle = (j: number) => (isWide && j >= headDim / 8 ? 0 : theta ** ((-2 * j) / headDim))
  return {angles: Array.from({length: headDim / 2}, (_, j) => angle(j)), magnitude: 1}
}

/** Angle per position of each pair, and what the turned vector is multiplied by. */
export interface Frequencies {
  angles: readonly number[]
  magnitude: number
}

/** Written after `modeling_rope_utils.py` of transformers. */
function scaledFrequencies(model: TinyModel): Frequencies {
  const {ropeTheta, ropeScaling, headDim: whole, contextLength, config} = model
  const headDim = whole * Number(tinyConfig(model).partial_rotary_factor ?? 1)
  const inverse = Array.from({length: headDim / 2}, (_, j) => 1 / ropeTheta ** ((2 * j) / headDim))
  if (ropeScaling === null) return {angles: inverse, magnitude: 1}
  const value = (key: string, fallback?: number) => Number(ropeScaling[key] ?? fallback)
  if (ropeScaling.rope_type === 'longrope') {
    const trained = Number(config.original_max_position_embeddings)
    const divisors = ropeScaling[contextLength > trained ? 'long_factor' : 'short_factor'] as readonly number[]
    const magnitude = Math.sqrt(1 + Math.log(contextLength / trained) / Math.log(trained))
    return {angles: inverse.map((f, j) => f / (divisors[j] as number)), magnitude}
  }
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
  if (ropeScaling.rope_type === 'dynamic') {
    // The length of a sequence is that of the context, so that keys do not depend on later tokens.
    const length = Math.max(contextLength * factor, original)
    const base = ropeTheta * ((factor * length) / original - (factor - 1)) ** (headDim / (headDim - 2))
    return {angles: inverse.map((_, j) => 1 / base ** ((2 * j) / headDim)), magnitude: 1}
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
  const weighted = (weight: number) => 0.1 * weight * Math.log(factor) + 1
  const isWeighted = 'mscale' in ropeScaling
  const quotient = isWeighted ? weighted(value('mscale')) / weighted(value('mscale_all_dim')) : weighted(1)
  return {angles, magnitude: value('attention_factor', quotient)}
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
  let highest = Number.NEGATIVE_INFINITY
  for (let i = 0; i < scores.length; i++) highest = Math.max(highest, scores[i] as number)
  let total = 0
  for (let i = 0; i < scores.length; i++) total += scores[i] = Math.exp((scores[i] as number) - highest)
  for (let i = 0; i < scores.length; i++) scores[i]! /= total
}
