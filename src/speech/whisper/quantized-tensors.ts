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

/** Matrices of the encoder, which sees many rows at once, and the cross-attention's, which is computed with them. */
const manyRows = /^model\.(encoder\.layers\.\d+\..*|decoder\.layers\.\d+\.encoder_attn\.[kv]_proj)\.weight$/
/** Matrices of the decoder, which sees a row or a few; the embedding is the matrix of the logits too. */
const fewRows = /^model\.decoder\.(layers\.\d+\..*|embed_tokens)\.weight$/

/**
 * The tensors of a Whisper with 8-bit twins of its matrices. The twins are made once and kept in a file.
 * @throws cache_unwritable
 */
export async function withQuantizedTwins(tensors: TensorMap, folder: string): Promise<TensorMap> {
  const sources = [...new Set([...tensors.values()].map(({file}) => file))].sort()
  const twins = [...tensors.values()].filter(({shape}) => shape.length === 2).flatMap(twinsOf)
  const file = await derivedFile(
    {folder, sources, recipe, extension: '.safetensors'},
    (partial) => writeSafetensors(partial, twins),
    async (made) => twins.length === (await readTensorMap(made)).size,
  )
  return new Map([...tensors, ...(await readTensorMap(file))])
}

function twinsOf(entry: TensorEntry): TensorSource[] {
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

/** Makes a value when it is first asked for, and lets go of it when it is asked for the last time. */
function once<T>(make: () => Promise<T>): (last?: boolean) => Promise<T> {
  let value: Promise<T> | undefined
  return (last = false) => {
    const made = value ?? make()
    value = last ? undefined : made
    return made
  }
}

const bytes = ({buffer, byteOffset, byteLength}: ArrayBufferView) => new Uint8Array(buffer, byteOffset, byteLength)
