import {type Device, hasByteProducts} from '../onnx/index.js'
import {
  blocksCopy,
  columnsCopy,
  type TensorEntry,
  type TensorMap,
  type TensorSource,
  withCopies,
} from '../weights/index.js'
import type {DecoderSpec} from './spec.js'

/** Precision of the weights in the graph: 32-bit floats, or 8-bit integers. */
export type Precision = 'f32' | 'w8'

/** Size of the weights from which reading fewer bytes matters. */
const smallBytes = 100_000_000

/**
 * Precision of a model. `auto` is w8 for models of 100 MB or more on processors with fast products of bytes: it reads a
 * quarter of the bytes of f32, and its perplexity differs by less than 1 %.
 */
export function choosePrecision(requested: Precision | 'auto', tensors: TensorMap, device: Device): Precision {
  if (requested !== 'auto') return requested
  const bytes = [...tensors.values()].reduce((sum, {length}) => sum + length, 0)
  return bytes >= smallBytes && device === 'cpu' && hasByteProducts() ? 'w8' : 'f32'
}

const recipe = 'decoder-w8.1'

/** Sizes of blocks with a common scale, in order of preference: larger ones are faster. */
const blockSizes = [128, 64, 32]

/**
 * Adds 8-bit copies of the matrices of a decoder. Those of the layers have one scale per output. The head, which decides
 * between many similar rows, has one scale per block, and shares its bytes with a tied embedding. On processors without
 * instructions for sums of products of bytes, weights have 7 bits, because their sums of two products saturate at 16 bits.
 * @throws cache_unwritable
 */
export function withBytes(spec: DecoderSpec, tensors: TensorMap, folder: string): Promise<TensorMap> {
  const most = process.arch === 'x64' && !hasByteProducts() ? 63 : 127
  const matrices = spec.layers.flatMap(({attention, mlp}) => {
    const {q, k, v, o} = attention.names
    const {gate, up, down} = mlp.names
    return [q, k, v, o, gate, up, down]
  })
  const find = (names: readonly string[]) =>
    names.map((name) => tensors.get(name)).filter((entry): entry is TensorEntry => entry?.shape.length === 2)
  const copies: TensorSource[] = find(matrices).flatMap((entry) => columnsCopy(entry, most))
  const size = blockSizes.find((each) => spec.hiddenSize % each === 0)
  if (size !== undefined) copies.push(...find([spec.tensors.head]).flatMap((entry) => blocksCopy(entry, size)))
  return withCopies(tensors, copies, {folder, recipe: `${recipe} ${most} ${size}`})
}
