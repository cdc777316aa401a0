import {type Device, hasByteProducts} from '../onnx/index.js'
import {
  blocksCopy,
  type CopyOptions,
  columnsCopy,
  nibblesCopy,
  type QuantizedCopy,
  type TensorEntry,
  type TensorMap,
  withCopies,
} from '../weights/index.js'
import type {DecoderSpec} from './spec.js'

/** Precision of the weights in the graph: 32-bit floats, or integers of 8 or mostly 4 bits. */
export type Precision = 'f32' | 'w8' | 'w4'

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

/** Must be changed to invalidate copies of earlier versions. */
const recipe = 'decoder.2'

/** Sizes of blocks of the head with a common scale, in order of preference: larger ones are faster. */
const blockSizes = [128, 64, 32]
/** Size of blocks of 4 bits. Larger ones are faster, but less accurate than the bound of 1.1 times the perplexity. */
const nibbleBlock = 32

/**
 * Adds quantised copies of the matrices of a decoder. Those of the layers have one scale per output; for w4, all but the
 * down projections have 4 bits and one scale per block. The head, which decides between many similar rows, has 8 bits
 * and one scale per block, and shares its bytes with a tied embedding. On processors without instructions for sums of
 * products of bytes, the former have 7 bits, because their sums of two products saturate at 16 bits.
 * @throws cache_unwritable, quantisation_failed
 */
export function withQuantised(
  spec: DecoderSpec,
  tensors: TensorMap,
  precision: 'w8' | 'w4',
  options: Omit<CopyOptions, 'recipe'>,
): Promise<TensorMap> {
  const most = process.arch === 'x64' && !hasByteProducts() ? 63 : 127
  const size = blockSizes.find((each) => spec.hiddenSize % each === 0)
  const copyOf = (name: string, copy: (entry: TensorEntry) => QuantizedCopy): QuantizedCopy[] => {
    const entry = tensors.get(name)
    return entry?.shape.length === 2 ? [copy(entry)] : []
  }
  const columns = (entry: TensorEntry) => columnsCopy(entry, most)
  const first = precision === 'w4' ? (entry: TensorEntry) => nibblesCopy(entry, nibbleBlock) : columns
  const copies = spec.layers.flatMap(({attention, mlp}) => {
    const {q, k, v, o} = attention.names
    const {gate, up, down} = mlp.names
    return [...[q, k, v, o, gate, up].flatMap((name) => copyOf(name, first)), ...copyOf(down, columns)]
  })
  if (size !== undefined) copies.push(...copyOf(spec.tensors.head, (entry) => blocksCopy(entry, size)))
  const blocks = precision === 'w4' ? ` block=${nibbleBlock}` : ''
  return withCopies(tensors, copies, {...options, recipe: `${recipe} ${precision}${blocks} max=${most} head=${size}`})
}
