import type {Adapter} from '../../weights/index.js'
import type {Precision} from '../precision.js'
import type {DecoderSpec} from '../spec.js'

/** Whether the bytes of a reply depend on what runs with it. */
export type SameBytes = 'same' | 'batch_variant'

/** What may change the number of tokens that a run computes. */
export interface ComputeChoices {
  /** Whether repeated text is drafted. */
  promptLookup: boolean
  /** Whether beginnings of prompts are saved. */
  savesPrefixes: boolean
}

/** The dimensions that the kernels see: hidden, intermediate, heads, heads of keys, head dimension, vocabulary. */
type Shape = readonly [number, number, number, number, number, number]

/** A shape for which schedules of requests were compared byte for byte: `test/llm/determinism.slow.ts`. */
export interface ProvenShape {
  name: string
  shape: Shape
  precisions: readonly Precision[]
  /** Ranks of adapters with which it was compared, too. */
  adapterRanks: readonly number[]
}

export const provenShapes: readonly ProvenShape[] = [
  {name: 'stories260K', shape: [64, 172, 8, 4, 8, 512], precisions: ['f32', 'w8'], adapterRanks: []},
  {name: 'guide', shape: [160, 432, 5, 5, 32, 1536], precisions: ['f32'], adapterRanks: [32]},
  {name: '0.5B', shape: [896, 4864, 14, 2, 64, 151_936], precisions: ['f32', 'w8'], adapterRanks: []},
]

/**
 * The shape of a model whose replies are known to have the same bytes whatever runs with them, and whatever was saved before.
 *
 * ONNX Runtime 1.30 has two kernels where the number of rows changes the order of sums:
 *
 * - GroupQueryAttention: that for one token per sequence differs from that for several in the last bits of a float. It
 *   accepts several only for one sequence, so steps of a batch cannot avoid the former. Rounded inputs of products make
 *   this larger, so with rounded weights, drafts and saved replies are excluded. Prompts never have runs of one token.
 * - MatMulNBits with 4 bits, on processors without products of bytes: that for one row differs from that for several. A
 *   second row takes a quarter longer. So no shape is proven with w4.
 */
export function provenShapeOf(
  spec: DecoderSpec,
  precision: Precision,
  {promptLookup, savesPrefixes}: ComputeChoices,
): ProvenShape | undefined {
  if (precision !== 'f32' && (promptLookup || savesPrefixes)) return undefined
  const isProven = ({shape, precisions}: ProvenShape) =>
    precisions.includes(precision) && shapesOf(spec).every((own) => own.every((size, i) => size === shape[i]))
  return provenShapes.find(isProven)
}

/** @param proven that of the model, if there is one */
export function sameBytes(
  proven: Pick<ProvenShape, 'adapterRanks'> | undefined,
  adapter: Adapter | undefined,
): SameBytes {
  const deltas = adapter?.deltas ?? []
  const isProven = proven !== undefined && deltas.every(({a}) => proven.adapterRanks.includes(a.shape[0] as number))
  return isProven ? 'same' : 'batch_variant'
}

const shapesOf = ({hiddenSize, vocabSize, layers}: DecoderSpec): Shape[] =>
  layers.map(({attention, mlp: {intermediateSize}}) => {
    const {heads, kvHeads, headDim} = attention ?? {heads: 0, kvHeads: 0, headDim: 0}
    return [hiddenSize, intermediateSize, heads, kvHeads, headDim, vocabSize]
  })
