import {type DerivedFile, derivedFile} from './derived-cache.js'
import {quantizeBlocks, quantizeColumns, quantizedBlock, quantizeNibbles} from './quantize.js'
import {readTensorFloat32, type TensorEntry} from './safetensors.js'
import {type TensorSource, writeSafetensors} from './safetensors-writer.js'
import {readTensorMap, type TensorMap} from './shards.js'

/**
 * Adds quantised copies of matrices to the tensors of a model. They are cached in a file.
 * @throws cache_unwritable
 */
export async function withCopies(
  tensors: TensorMap,
  copies: readonly TensorSource[],
  {folder, recipe}: Pick<DerivedFile, 'folder' | 'recipe'>,
): Promise<TensorMap> {
  const sources = [...new Set([...tensors.values()].map(({file}) => file))].sort()
  const file = await derivedFile(
    {folder, sources, recipe, extension: '.safetensors'},
    (partial) => writeSafetensors(partial, copies),
    async (existing) => copies.length === (await readTensorMap(existing)).size,
  )
  return new Map([...tensors, ...(await readTensorMap(file))])
}

/** Copy with one scale per output: `NAME.columns` `[in, out]` and `NAME.columns_scale` `[out]`. */
export function columnsCopy(entry: TensorEntry, most?: number): TensorSource[] {
  const [out = 0, input = 0] = entry.shape
  const quantized = once(async () => quantizeColumns(await readTensorFloat32(entry), out, input, most))
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

/** Copy with one scale per block: `NAME.blocks` `[out, blocks, size]` and `NAME.blocks_scale` `[out * blocks]`. */
export const blocksCopy = (entry: TensorEntry, size = quantizedBlock): TensorSource[] =>
  copyOf(entry, 'blocks', size, size, quantizeBlocks)

/** Copy of 4 bits: `NAME.nibbles` `[out, blocks, size / 2]` and `NAME.nibbles_scale` `[out * blocks]`. */
export const nibblesCopy = (entry: TensorEntry, size = quantizedBlock): TensorSource[] =>
  copyOf(entry, 'nibbles', size, size / 2, quantizeNibbles)

function copyOf(
  entry: TensorEntry,
  kind: 'blocks' | 'nibbles',
  size: number,
  bytesPerBlock: number,
  quantize: typeof quantizeBlocks,
): TensorSource[] {
  const [out = 0, input = 0] = entry.shape
  const count = Math.ceil(input / size)
  const quantized = once(async () => quantize(await readTensorFloat32(entry), out, input, size))
  return [
    {
      name: `${entry.name}.${kind}`,
      dtype: 'U8',
      shape: [out, count, bytesPerBlock],
      data: async () => bytes((await quantized()).values),
    },
    {
      name: `${entry.name}.${kind}_scale`,
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
