import {type Tensor, tensor} from '../../onnx/index.js'
import {TokenLogits} from '../../sampling/index.js'
import {readTensorFloat32, type TensorMap} from '../../weights/index.js'
import type {WhisperConfig} from './config.js'
import {topCount} from './decoder-graph.js'
import {embeddingTensor} from './quantized-tensors.js'
import type {TokenEmbedding} from './token-embedding.js'

/** The outputs of `outputLogits` that are needed in each step. */
const stepOutputs = ['final', 'top', 'top_ids', 'exact', 'text_total', 'others'] as const

/** Largest norms of the quantised text rows: of their errors, and of the rows. */
interface RowBounds {
  error: number
  norm: number
}

/** Weights per activation scale in `MatMulNBits`. */
const activationBlock = 128
/** Share of a bound that covers the rounding of 32-bit sums. */
const roundingShare = 1.001
const smallestRounding = 1e-4

/** How a decoder graph's outputs become the logits of tokens. */
export interface DecoderLogits {
  /** Inputs of a run, besides those of the layers. */
  feeds(suppressed: readonly number[], wanted: readonly (readonly number[])[]): Record<string, Tensor>
  fetches(all: boolean): Record<string, null>
  /** The rows of a run; each call reuses the memory of the last one unless all logits were fetched. */
  read(
    outputs: Readonly<Record<string, Tensor | undefined>>,
    wanted: readonly (readonly number[])[],
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
  const count = topCount(text)
  return () => {
    /** Of each row: its logits, and the text tokens that are not -Infinity in them. */
    const buffers: {values: Float32Array; tokens: number[]}[] = []
    let bias: {suppressed: readonly number[]; feed: Tensor} | undefined
    return {
      feeds(suppressed, wanted) {
        if (bias?.suppressed !== suppressed) bias = {suppressed, feed: textBias(suppressed, text)}
        const most = Math.max(0, ...wanted.map(({length}) => length))
        const ids = new BigInt64Array(wanted.length * most)
        for (const [row, tokens] of wanted.entries())
          for (const [i, token] of tokens.entries()) ids[row * most + i] = BigInt(token)
        return {text_bias: bias.feed, wanted: tensor(ids, [wanted.length, most])}
      },
      fetches: (all) => Object.fromEntries([...stepOutputs, ...(all ? ['text'] : [])].map((name) => [name, null])),
      read(outputs, wanted, onWhole) {
        const floats = (name: (typeof stepOutputs)[number] | 'text') => outputs[name]?.data as Float32Array | undefined
        const [final, top, exactLogits] = [floats('final')!, floats('top')!, floats('exact')!]
        const ids = outputs.top_ids?.data as BigInt64Array
        const width = exactLogits.length / wanted.length
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
          const common = {text, ceiling: ceilingOf(known, errorBound(state, bounds), text)}
          const whole = () => {
            onWhole()
            return embedding.logits(state)
          }
          const all = floats('text')
          if (all === undefined) {
            buffers[row] ??= {values: new Float32Array(vocabSize).fill(-Infinity), tokens: []}
            const buffer = buffers[row]
            for (const token of buffer.tokens) buffer.values[token] = -Infinity
            buffer.tokens = setKnown(buffer.values, known, text)
            return new TokenLogits({...common, ...buffer, restTotal: restTotal(known), whole})
          }
          const values = new Float32Array(vocabSize)
          values.set(all.subarray(row * text, (row + 1) * text))
          setKnown(values, known, text)
          const exact = bounds === undefined ? {ceiling: -Infinity} : {}
          return new TokenLogits({...common, ...exact, values, tokens: undefined, restTotal: -Infinity, whole})
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

/** Log-sum-exp of the text tokens that are not among the most likely ones. */
function restTotal({approximate, total}: Known): number {
  let part = 0
  for (const logit of approximate) part += Math.exp(logit - total)
  // Rounded, the part of the most likely tokens may exceed 1.
  return part < 1 ? total + Math.log1p(-part) : -Infinity
}

function textBias(suppressed: readonly number[], text: number): Tensor {
  const bias = new Float32Array(text)
  for (const token of suppressed) if (token < text) bias[token] = excluded
  return tensor(bias, [text])
}

/** Finite, because the difference of two infinities is not a number. */
const excluded = -1e30

/** Undefined if the matrix is not quantised. */
async function rowBounds(tensors: TensorMap, text: number): Promise<RowBounds | undefined> {
  const entry = tensors.get(`${embeddingTensor}.blocks_bounds`)
  if (entry === undefined) return undefined
  const norms = await readTensorFloat32(entry)
  const largest = {error: 0, norm: 0}
  for (let row = 0; row < text; row++) {
    largest.error = Math.max(largest.error, norms[2 * row]!)
    largest.norm = Math.max(largest.norm, norms[2 * row + 1]!)
  }
  return largest
}

/**
 * Upper bound of the difference between a quantised and an exact logit. For a row w, its copy q and the state h, the
 * difference is at most `|w - q| |h| + |q| d`, where d is the largest possible norm of the rounding of h to 8 bits, with
 * one scale per block.
 */
function errorBound(state: Float32Array, bounds: RowBounds | undefined): number {
  if (bounds === undefined) return 0
  let squares = 0
  let rounding = 0
  for (let from = 0; from < state.length; from += activationBlock) {
    const to = Math.min(state.length, from + activationBlock)
    let most = 0
    for (let i = from; i < to; i++) {
      squares += state[i]! * state[i]!
      most = Math.max(most, Math.abs(state[i]!))
    }
    rounding += (to - from) * (most / 254) ** 2
  }
  const bound = bounds.error * Math.sqrt(squares) + bounds.norm * Math.sqrt(rounding)
  return roundingShare * bound + smallestRounding
}
