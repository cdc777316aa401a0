import {type Device, hasByteProducts, largestWeight, obtainableMemory} from '../onnx/index.js'
import {
  blocksCopy,
  type CopyOptions,
  columnsCopy,
  elements,
  exactCopy,
  hasNibbles,
  isBlockEntry,
  nibblesCopy,
  type QuantizedCopy,
  type TensorEntry,
  type TensorMap,
  withCopies,
  withParts,
} from '../weights/index.js'
import {attentionProjections, type DecoderSpec, inputProjections} from './spec.js'

/** Precision of the weights in the graph: 32-bit floats, or integers of 8 or mostly 4 bits. */
export type Precision = 'f32' | 'w8' | 'w4'

export const precisions: readonly Precision[] = ['f32', 'w8', 'w4']

/** Bytes of memory per parameter. w4: 4 bits and a scale per 32, but 8 bits for the down projections and the head. */
const parameterBytes: Readonly<Record<Precision, number>> = {f32: 4, w8: 1, w4: 0.75}

/** The same of integers in GGUF files of more than 4 bits for w4: 8 bits, and a scale and an offset per 16 or 32. */
const exactBytes = 1.25

/** Approximate memory of weights, bytes. */
export function memoryOf(tensors: TensorMap, precision: Precision): number {
  const bytesOf = (entry: TensorEntry) =>
    precision === 'w4' && isBlockEntry(entry) && !hasNibbles(entry) ? exactBytes : parameterBytes[precision]
  return Math.round([...tensors.values()].reduce((sum, entry) => sum + bytesOf(entry) * elements(entry.shape), 0))
}

/** Size of the weights from which reading fewer bytes matters. */
const smallBytes = 100_000_000
/** Bits of a weight, with its part of the scale, below which 8 bits would be more than the file has. */
const fewBits = 7

/**
 * Precision of a model. `auto` is w8 for models of 100 MB or more on processors with fast products of bytes. It then
 * reads a quarter of the bytes of f32, and its perplexity differs by less than 1 %. On other processors, it is w8 if
 * the weights do not fit in memory as 32-bit floats. It is w4 if they do not fit as bytes either, and for GGUF files whose
 * integers have less than 8 bits.
 * @param memory bytes
 */
export function choosePrecision(
  requested: Precision | 'auto',
  tensors: TensorMap,
  device: Device,
  memory = obtainableMemory(),
): Precision {
  if (requested !== 'auto') return requested
  const entries = [...tensors.values()]
  const bytes = entries.reduce((sum, {length}) => sum + length, 0)
  if (bytes < smallBytes || device !== 'cpu') return 'f32'
  const weights = entries.reduce((sum, {shape}) => sum + elements(shape), 0)
  if (weights > memory || (entries.some(isBlockEntry) && 8 * bytes < fewBits * weights)) return 'w4'
  return hasByteProducts() || 4 * weights > memory ? 'w8' : 'f32'
}

/** Must be changed to invalidate copies of earlier versions. */
const recipe = 'decoder.2'

/** Sizes of blocks of the head with a common scale, in order of preference: larger ones are faster. */
const blockSizes = [128, 64, 32]

/** Parameters of w4. */
export interface NibbleScheme {
  /** Weights of a block of 4 bits with a common scale. Larger blocks are faster, but less accurate. */
  block: 32 | 64 | 128
  /** Bits of the down projections, whose inputs have the largest outliers. */
  downBits: 4 | 8
}

/**
 * The only scheme whose perplexity is at most 1.10 times that of f32 for all models and texts of the measurement in
 * `docs/benchmarks.md`. It is fixed: to measure a model when it is quantised would need its f32 weights in memory, and
 * several times the time to load it.
 */
export const nibbleScheme: NibbleScheme = {block: 32, downBits: 8}

/**
 * Adds quantised copies of the matrices of a decoder. Those of the layers have one scale per output; for w4, all but the
 * down projections have 4 bits and one scale per block. The head, which decides between many similar rows, has 8 bits
 * and one scale per block, and shares its bytes with a tied embedding. The former have 7 bits where products of 8 bits
 * saturate.
 *
 * The integers of a GGUF file are copied without rounding. For f32, and for the embedding and the head, the copies have
 * 8 bits. For w4, integers of 4 bits keep their size, and the others have 8 bits.
 * @throws cache_unwritable, quantisation_failed
 */
export async function withQuantised(
  spec: DecoderSpec,
  stored: TensorMap,
  precision: Precision,
  options: Omit<CopyOptions, 'recipe'>,
  {block, downBits} = nibbleScheme,
): Promise<TensorMap> {
  const max = largestWeight()
  const tensors = withParts(stored, spec.fused)
  const size = blockSizes.find((each) => spec.hiddenSize % each === 0)
  const copyOf = (name: string, copy: (entry: TensorEntry) => QuantizedCopy | undefined): QuantizedCopy[] => {
    const entry = tensors.get(name)
    return entry?.shape.length === 2 ? [copy(entry) ?? []].flat() : []
  }
  const columns = (entry: TensorEntry) => columnsCopy(entry, max)
  const nibbles = (entry: TensorEntry) => nibblesCopy(entry, block)
  const inLayer = (floats: typeof columns) => (entry: TensorEntry) => {
    if (!isBlockEntry(entry)) return precision === 'f32' ? undefined : floats(entry)
    if (precision === 'w8') return columns(entry)
    return exactCopy(entry, precision === 'f32' ? 'stored' : hasNibbles(entry) ? 'nibbles' : 'blocks')
  }
  const first = inLayer(precision === 'w4' ? nibbles : columns)
  const last = inLayer(precision === 'w4' && downBits === 4 ? nibbles : columns)
  const copies = spec.layers.flatMap(({attention, recurrent, mlp}) => {
    const mixer = attention === undefined ? recurrent.projections : attentionProjections(attention, spec.hiddenSize)
    return [
      ...mixer.flatMap(({name}) => copyOf(name, first)),
      ...mlp.experts.flatMap(({gate, up, down}) => [
        ...[gate, up].flatMap((name) => copyOf(name, first)),
        ...copyOf(down, last),
      ]),
    ]
  })
  copies.push(...inputProjections(spec).flatMap(({name}) => copyOf(name, last)))
  const {embedding, head} = spec.tensors
  const kind = precision === 'f32' ? 'stored' : 'blocks'
  const headCopy = (entry: TensorEntry) => {
    if (isBlockEntry(entry)) return exactCopy(entry, kind)
    return precision === 'f32' || size === undefined ? undefined : blocksCopy(entry, size)
  }
  copies.push(...copyOf(head, headCopy))
  // Their rows are read from the file, unless it has integers.
  for (const name of [
    ...(embedding === head ? [] : [embedding]),
    ...(spec.layerInputs ? [spec.layerInputs.embedding] : []),
  ])
    copies.push(...copyOf(name, (entry) => (isBlockEntry(entry) ? exactCopy(entry, kind) : undefined)))
  if (copies.length === 0) return tensors
  const scheme = precision === 'w4' ? `w4 block=${block} down=${downBits}` : precision
  return withCopies(tensors, copies, {...options, recipe: `${recipe} ${scheme} max=${max} head=${size}`})
}
