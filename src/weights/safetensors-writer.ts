import {open} from 'node:fs/promises'
import {writeFault} from '../files/index.js'
import {dtypeBytes, isDtype} from './dtype.js'
import {elements, readSafetensorsHeader, type TensorEntry} from './safetensors.js'
import {type TensorData, writeAll, writeTensorFile} from './tensor-file.js'

export interface TensorLayout {
  name: string
  dtype: string
  shape: readonly number[]
  /** Length in bytes if the dtype is not a `Dtype`. */
  length?: number
}

export interface TensorSource extends TensorLayout, Pick<TensorData, 'data'> {}

/**
 * Writes a safetensors file one tensor at a time, as `writeTensorFile` does.
 * @throws disk_full, file_unwritable
 */
export const writeSafetensors = (
  file: string,
  tensors: readonly TensorSource[],
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> =>
  writeTensorFile(
    file,
    headerOf(tensors, metadata),
    tensors.map((tensor) => ({name: tensor.name, length: byteLength(tensor), data: () => tensor.data()})),
  )

/**
 * Creates a safetensors file whose tensors are written later, at the returned offsets and in any order.
 * @throws disk_full, file_unwritable
 */
export async function createSafetensors(file: string, tensors: readonly TensorLayout[]): Promise<TensorEntry[]> {
  try {
    const handle = await open(file, 'wx')
    try {
      const header = headerOf(tensors, {})
      await writeAll(handle, header)
      await handle.truncate(header.length + tensors.reduce((sum, tensor) => sum + byteLength(tensor), 0))
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw writeFault(error, file)
  }
  return readSafetensorsHeader(file)
}

/** 8 bytes of length, then JSON, padded with spaces to align the data to 8 bytes. */
function headerOf(tensors: readonly TensorLayout[], metadata: Readonly<Record<string, string>>): Uint8Array {
  let offset = 0
  const entries = tensors.map((tensor) => {
    const {name, dtype, shape} = tensor
    const start = offset
    offset += byteLength(tensor)
    return [name, {dtype, shape, data_offsets: [start, offset]}] as const
  })
  const json = JSON.stringify({
    ...(Object.keys(metadata).length === 0 ? {} : {__metadata__: metadata}),
    ...Object.fromEntries(entries),
  })
  const text = Buffer.from(json, 'utf8')
  const length = Math.ceil(text.length / 8) * 8
  const header = Buffer.alloc(8 + length, ' ')
  header.writeBigUInt64LE(BigInt(length), 0)
  text.copy(header, 8)
  return header
}

const byteLength = ({dtype, shape, length = 0}: TensorLayout): number =>
  isDtype(dtype) ? elements(shape) * dtypeBytes(dtype) : length
