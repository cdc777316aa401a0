/** What the references of recurrent layers need of a model. */
export interface LayerWeights {
  /** A tensor by its name in the layer, such as `A_log`. */
  weight(name: string): Float32Array
  /** W x, with the change of an adapter if there is one. */
  linear(name: string, x: Float32Array, rows: number): Float32Array
}

const silu = (x: number) => x / (1 + Math.exp(-x))
const sigmoid = (x: number) => 1 / (1 + Math.exp(-x))
const softplus = (x: number) => Math.log1p(Math.exp(x))

/** The root of the mean of squares, not too close to 0. */
function rootMeanSquare(x: Iterable<number> & ArrayLike<number>, epsilon: number): number {
  let sum = 0
  for (const value of x) sum += value * value
  return Math.sqrt(sum / x.length + epsilon)
}

/** The inputs of each position convolved with those before it; nothing precedes the first one. */
function convolved(
  inputs: readonly Float32Array[],
  kernel: Float32Array,
  bias: Float32Array | undefined,
): Float64Array[] {
  const channels = inputs[0]?.length ?? 0
  const width = kernel.length / channels
  return inputs.map((_, position) =>
    new Float64Array(channels).map((_value, channel) => {
      let sum = bias?.[channel] ?? 0
      for (let i = 0; i < width; i++) {
        const from = inputs[position - width + 1 + i]
        if (from !== undefined) sum += (kernel[channel * width + i] as number) * (from[channel] as number)
      }
      return silu(sum)
    }),
  )
}

export interface DeltaNetShape {
  hiddenSize: number
  keyHeads: number
  keyDim: number
  valueHeads: number
  valueDim: number
  epsilon: number
}

/**
 * Gated DeltaNet as its recurrence, in double precision. S = S exp(g) (I - b k k^T) + b v k^T; o = S q. Source: Yang et al.
 * 2025, equation 10, with the parametrisation of Mamba 2 for the decay.
 */
export function referenceDeltaNet(
  {weight, linear}: LayerWeights,
  {hiddenSize, keyHeads, keyDim, valueHeads, valueDim, epsilon}: DeltaNetShape,
  inputs: readonly Float32Array[],
): Float32Array[] {
  const [keys, values] = [keyHeads * keyDim, valueHeads * valueDim]
  const mixed = inputs.map((x) => linear('in_proj_qkv.weight', x, 2 * keys + values))
  const rows = convolved(mixed, weight('conv1d.weight'), undefined)
  const memories = Array.from({length: valueHeads}, () => new Float64Array(valueDim * keyDim))
  return inputs.map((x, position) => {
    const row = rows[position] as Float64Array
    const [a, b] = [linear('in_proj_a.weight', x, valueHeads), linear('in_proj_b.weight', x, valueHeads)]
    const z = linear('in_proj_z.weight', x, values)
    const result = new Float32Array(values)
    for (const [head, memory] of memories.entries()) {
      const shared = Math.floor(head / (valueHeads / keyHeads)) * keyDim
      const unit = (start: number) => {
        const part = row.slice(start + shared, start + shared + keyDim)
        const length = Math.sqrt(part.reduce((sum, each) => sum + each * each, 1e-6))
        return part.map((each) => each / length)
      }
      const [q, k] = [unit(0), unit(keys)]
      const rate = Math.exp(weight('A_log')[head] as number)
      const decay = Math.exp(-rate * softplus((a[head] as number) + (weight('dt_bias')[head] as number)))
      const share = sigmoid(b[head] as number)
      const out = Array.from({length: valueDim}, (_, i) => {
        const line = memory.subarray(i * keyDim, (i + 1) * keyDim)
        const read = line.reduce((sum, each, j) => sum + each * decay * (k[j] as number), 0)
        const written = share * ((row[2 * keys + head * valueDim + i] as number) - read)
        for (let j = 0; j < keyDim; j++) line[j] = (line[j] as number) * decay + written * (k[j] as number)
        return line.reduce((sum, each, j) => sum + each * (q[j] as number), 0) / Math.sqrt(keyDim)
      })
      const root = rootMeanSquare(out, epsilon)
      for (const [i, value] of out.entries()) {
        const at = head * valueDim + i
        result[at] = (value / root) * (weight('norm.weight')[i] as number) * silu(z[at] as number)
      }
    }
    return linear('out_proj.weight', result, hiddenSize)
  })
}

export interface Mamba2Shape {
  hiddenSize: number
  heads: number
  headDim: number
  groups: number
  stateSize: number
  epsilon: number
  hasBiases: boolean
}

/** Mamba 2 as its recurrence, in double precision. Source: Dao, Gu 2024, section 2. */
export function referenceMamba2(
  {weight, linear}: LayerWeights,
  {hiddenSize, heads, headDim, groups, stateSize, epsilon, hasBiases}: Mamba2Shape,
  inputs: readonly Float32Array[],
): Float32Array[] {
  const [inner, shared] = [heads * headDim, groups * stateSize]
  const biased = (name: string, x: Float32Array, size: number) => {
    const y = linear(`${name}.weight`, x, size)
    return hasBiases ? y.map((value, i) => value + (weight(`${name}.bias`)[i] as number)) : y
  }
  const projected = inputs.map((x) => biased('in_proj', x, 2 * inner + 2 * shared + heads))
  const rows = convolved(
    projected.map((each) => each.slice(inner, 2 * inner + 2 * shared)),
    weight('conv1d.weight'),
    weight('conv1d.bias'),
  )
  const states = Array.from({length: inner}, () => new Float64Array(stateSize))
  return inputs.map((_, position) => {
    const [row, all] = [rows[position] as Float64Array, projected[position] as Float32Array]
    const gated = Float64Array.from(states, (state, i) => {
      const head = Math.floor(i / headDim)
      const group = Math.floor(head / (heads / groups)) * stateSize
      const step = softplus((all[2 * inner + 2 * shared + head] as number) + (weight('dt_bias')[head] as number))
      const decay = Math.exp(-Math.exp(weight('A_log')[head] as number) * step)
      const x = row[i] as number
      let y = (weight('D')[head] as number) * x
      for (let n = 0; n < stateSize; n++) {
        state[n] = decay * (state[n] as number) + step * x * (row[inner + group + n] as number)
        y += (state[n] as number) * (row[inner + shared + group + n] as number)
      }
      return y * silu(all[i] as number)
    })
    const root = rootMeanSquare(gated, epsilon)
    const normed = Float32Array.from(gated, (value, i) => (value / root) * (weight('norm.weight')[i] as number))
    return biased('out_proj', normed, hiddenSize)
  })
}
