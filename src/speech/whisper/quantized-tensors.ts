import {
  derivedFile,
  quantizeBlocks,
  quantizeColumns,
  quantizedBlock,
  readTensorFloat32,
  readTensorMap,
  type TensorEntry,
  type TensorMap,
  type TensorSource,
  writeSafetensors,
} from '../../weights/index.js'

const recipe = 'whisper-int8.1'

/** Matrices that are multiplied with many rows at once: the encoder, and the cross-attention keys and values. */
const manyRows = /^model\.(encoder\.layers\.\d+\..*|decoder\.layers\.\d+\.encoder_attn\.[kv]_proj)\.weight$/
/** Decoder matrices, which are multiplied with few rows; the embedding is also the logits matrix. */
const fewRows = /^model\.decoder\.(layers\.\d+\..*|embed_tokens)\.weight$/

/**
 * Adds 8-bit quantised copies of the matrices to the tensors of a Whisper model. The copies are cached in a file.
 * @throws cache_unwritable
 */
export async function withQuantized(tensors: TensorMap, folder: string): Promise<TensorMap> {
  const sources = [...new Set([...tensors.values()].map(({file}) => file))].sort()
  const copies = [...tensors.values()].filter(({shape}) => shape.length === 2).flatMap(quantizedCopies)
  const file = await derivedFile(
    {folder, sources, recipe, extension: '.safetensors'},
    (partial) => writeSafetensors(partial, copies),
    async (existing) => copies.length === (await readTensorMap(existing)).size,
  )
  return new Map([...tensors, ...(await readTensorMap(file))])
}

function quantizedCopies(entry: TensorEntry): TensorSource[] {
  if (manyRows.test(entry.name)) return columns(entry)
  return fewRows.test(entry.name) ? blocks(entry) : []
}

function columns(entry: TensorEntry): TensorSource[] {
  const [out = 0, input = 0] = entry.shape
  const quantized = once(async () => quantizeColumns(await readTensorFloat32(entry), out, input))
  return [
    {
      name: `${entry.name}.columns`,
      dtype: 'I8',
      shape: [input, out],
      data: async () => bytes((await quantized()).values),
    },
    {
      name: `${entry.name}.columns_scale`,
      dtype: 'F32',
      shape: [out],
      data: async () => bytes((await quantized(true)).scales),
    },
  ]
}

function blocks(entry: TensorEntry): TensorSource[] {
  const [out = 0, input = 0] = entry.shape
  const count = Math.ceil(input / quantizedBlock)
  const quantized = once(async () => quantizeBlocks(await readTensorFloat32(entry), out, input))
  return [
    {
      name: `${entry.name}.blocks`,
      dtype: 'U8',
      shape: [out, count, quantizedBlock],
      data: async () => bytes((await quantized()).values),
    },
    {
      name: `${entry.name}.blocks_scale`,
      dtype: 'F32',
      shape: [out * count],
      data: async () => bytes((await quantized(true)).scales),
    },
  ]
}

/** Caches a value from the first call until the call with `last`. */
function once<T>(make: () => Promise<T>): (last?: boolean) => Promise<T> {
  let value: Promise<T> | undefined
  return (last = false) => {
    const current = value ?? make()
    value = last ? undefined : current
    return current
  }
}

const bytes = ({buffer, byteOffset, byteLength}: ArrayBufferView) => new Uint8Array(buffer, byteOffset, byteLength)
