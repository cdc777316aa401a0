import {type Tensor, tensor} from '../../onnx/index.js'
import {TokenLogits} from '../../sampling/index.js'
import {readTensorFloat32, type TensorMap} from '../../weights/index.js'
import type {WhisperConfig} from './config.js'
import {embeddingTensor} from './quantized-tensors.js'
import type {TokenEmbedding} from './token-embedding.js'

/** The outputs of `outputLogits` that are needed in each step. */
const stepOutputs = ['final', 'top', 'top_ids', 'exact', 'text_total', 'others'] as const

/** The largest norms of the quantised text rows: of their errors, and of the rows. */
interface RowBounds {
  error: number
  norm: number
  /** Upper bound of the square of the norm of the error of a rounded state. */
  rounding(state: Float32Array): number
}

/** Weights per activation scale in `MatMulNBits`. */
const activationBlock = 128
/** Share of a bound that covers the rounding of 32-bit sums. */
const roundingShare = 1.001
const minRounding = 1e-4

/** How a decoder graph's outputs become the logits of tokens. */
export interface DecoderLogits {
  /**
   * Inputs of a run, besides those of the layers.
   * @param exact number of the most likely tokens of a row that should be certain
   */
  feeds(suppressed: readonly number[], wanted: readonly (readonly number[])[], exact: number): Record<string, Tensor>
  /** @param all true if the rows have logits of all tokens */
  fetches(all: boolean): Record<string, null>
  /**
   * The rows of a run; each call reuses the memory of the last one unless `all` is true.
   * @param all as for `fetches`; the logits of the text are approximate then
   */
  read(
    outputs: Readonly<Record<string, Tensor | undefined>>,
    wanted: readonly (readonly number[])[],
    all: boolean,
    onWhole: () => void,
  ): TokenLogits[]
}

/**
 * @param text number of text tokens, which precede all others
 */
export async function decoderLogits(
  {vocabSize, hiddenSize}: WhisperConfig,
  tensors: TensorMap,
  embedding: TokenEmbedding,
  text: number,
): Promise<() => DecoderLogits> {
  const bounds = await rowBounds(tensors, text)
  return () => {
    /** Of each row: its logits, and the text tokens that are not -Infinity in them. */
    const buffers: {values: Float32Array; tokens: number[]}[] = []
    let bias: {suppressed: readonly number[]; feed: Tensor} | undefined
    return {
      feeds(suppressed, wanted, exact) {
        if (bias?.suppressed !== suppressed) bias = {suppressed, feed: textBias(suppressed, text)}
        const max = Math.max(0, ...wanted.map(({length}) => length))
        const ids = new BigInt64Array(wanted.length * max)
        for (const [row, tokens] of wanted.entries())
          for (const [i, token] of tokens.entries()) ids[row * max + i] = BigInt(token)
        return {
          text_bias: bias.feed,
          top_count: tensor(BigInt64Array.of(BigInt(topCount(text, exact))), [1]),
          wanted: tensor(ids, [wanted.length, max]),
        }
      },
      fetches: (all) => Object.fromEntries([...stepOutputs, ...(all ? ['text'] : [])].map((name) => [name, null])),
      read(outputs, wanted, all, onWhole) {
        const floats = (name: (typeof stepOutputs)[number] | 'text') => outputs[name]?.data as Float32Array | undefined
        const [final, top, exactLogits] = [floats('final')!, floats('top')!, floats('exact')!]
        const ids = outputs.top_ids?.data as BigInt64Array
        const [count, width] = [top, exactLogits].map(({length}) => length / wanted.length) as [number, number]
        return wanted.map((tokens, row) => {
          const state = final.subarray(row * hiddenSize, (row + 1) * hiddenSize)
          const known: Known = {
            ids: Array.from(ids.subarray(row * count, (row + 1) * count), Number),
            approximate: top.subarray(row * count, (row + 1) * count),
            exact: exactLogits.subarray(row * width, (row + 1) * width),
            wanted: tokens,
            total: floats('text_total')![row]!,
            others: floats('others')!.subarray(row * (vocabSize - text), (row + 1) * (vocabSize - text)),
          }
          const whole = () => {
            onWhole()
            return embedding.logits(state)
          }
          const common = {text, ceiling: ceilingOf(known, errorBound(state, bounds), text), whole}
          if (!all) {
            buffers[row] ??= {values: new Float32Array(vocabSize).fill(-Infinity), tokens: []}
            const buffer = buffers[row]
            for (const token of buffer.tokens) buffer.values[token] = -Infinity
            buffer.tokens = setKnown(buffer.values, known, text)
            return new TokenLogits({...common, ...buffer, restTotal: restTotal(known.total, known.approximate)})
          }
          const values = new Float32Array(vocabSize)
          values.set(floats('text')!.subarray(row * text, (row + 1) * text))
          setKnown(values, known, text)
          const exact = bounds === undefined ? {ceiling: -Infinity} : {}
          return new TokenLogits({...common, ...exact, values, tokens: undefined, restTotal: -Infinity})
        })
      },
    }
  }
}

/** What a run returns for one row. */
interface Known {
  /** The most likely text tokens, largest first. */
  ids: readonly number[]
  /** Their logits, approximate if the matrix is quantised. */
  approximate: Float32Array
  /** Exact logits of these tokens and of the wanted ones. */
  exact: Float32Array
  wanted: readonly number[]
  /** Log-sum-exp of the approximate logits of all text tokens. */
  total: number
  others: Float32Array
}

/** Writes the exact logits, and returns the text tokens among them. */
function setKnown(values: Float32Array, {ids, exact, wanted, others}: Known, text: number): number[] {
  values.set(others, text)
  const added = wanted.filter((token, i) => token < text && !ids.includes(token) && wanted.indexOf(token) === i)
  for (const [i, token] of ids.entries()) values[token] = exact[i]!
  for (const token of added) values[token] = exact[ids.length + wanted.indexOf(token)]!
  return [...ids, ...added]
}

/** Upper bound of the logits of the text tokens that are not among the most likely ones; -Infinity if all are. */
const ceilingOf = ({approximate}: Known, error: number, text: number): number =>
  approximate.length === text ? -Infinity : approximate.at(-1)! + error

/** Log-sum-exp of the text tokens without the known ones. */
function restTotal(total: number, known: Iterable<number>): number {
  let part = 0
  for (const logit of known) part += Math.exp(logit - total)
  // Rounded, the part of the most likely tokens may exceed 1.
  return part < 1 ? total + Math.log1p(-part) : -Infinity
}

/**
 * Number of most likely text tokens that a run returns, so that their errors seldom leave a doubt about the first ones:
 * with random weights, whose logits are close to each other, 32 suffice for one and 123 for six.
 */
const topCount = (text: number, exact: number): number => Math.min(Math.max(64, 24 * exact), text)

function textBias(suppressed: readonly number[], text: number): Tensor {
  const bias = new Float32Array(text)
  for (const token of suppressed) if (token < text) bias[token] = excluded
  return tensor(bias, [text])
}

/** Finite, because the difference of two infinities is not a number. */
const excluded = -1e30

/** Undefined if the matrix is not quantised. */
async function rowBounds(tensors: TensorMap, text: number): Promise<RowBounds | undefined> {
  const blocks = tensors.get(`${embeddingTensor}.blocks_bounds`)
  const entry = blocks ?? tensors.get(`${embeddingTensor}.columns_bounds`)
  if (entry === undefined) return undefined
  const norms = await readTensorFloat32(entry)
  let [error, norm] = [0, 0]
  for (let row = 0; row < text; row++) {
    error = Math.max(error, norms[2 * row]!)
    norm = Math.max(norm, norms[2 * row + 1]!)
  }
  return {error, norm, rounding: blocks === undefined ? rowRounding : blockRounding}
}

/**
 * Upper bound of the difference between a quantised and an exact logit. For a row w, its copy q and the state h, the
 * difference is at most `|w - q| |h| + |q| d`, where d is the norm of the rounding of h to 8 bits.
 */
function errorBound(state: Float32Array, bounds: RowBounds | undefined): number {
  if (bounds === undefined) return 0
  let squares = 0
  for (const x of state) squares += x * x
  const {error, norm, rounding} = bounds
  return roundingShare * (error * Math.sqrt(squares) + norm * Math.sqrt(rounding(state))) + minRounding
}

/** The runtime rounds in `MatMulNBits`: each value changes by at most half a step of its block. */
function blockRounding(state: Float32Array): number {
  let sum = 0
  for (let from = 0; from < state.length; from += activationBlock) {
    const block = state.subarray(from, from + activationBlock)
    sum += block.length * (largestOf(block) / 254) ** 2
  }
  return sum
}

/** The graph rounds to steps of the row, `ByteProducts`. */
function rowRounding(state: Float32Array): number {
  const step = largestOf(state) / 127
  if (step === 0) return 0
  let sum = 0
  for (const x of state) sum += (x - step * Math.round(x / step)) ** 2
  return sum
}

const largestOf = (values: Float32Array): number => {
  let max = 0
  for (const value of values) max = Math.max(max, Math.abs(value))
  return max
}
