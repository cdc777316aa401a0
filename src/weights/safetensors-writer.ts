import {type FileHandle, open, rename, rm} from 'node:fs/promises'
import {writeFault} from '../files/index.js'
import {dtypeBytes, isDtype} from './dtype.js'
import {elements, readSafetensorsHeader, type TensorEntry} from './safetensors.js'

export interface TensorLayout {
  name: string
  dtype: string
  shape: readonly number[]
  /** Length in bytes if the dtype is not a `Dtype`. */
  length?: number
}

export interface TensorSource extends TensorLayout {
  /** Its bytes, row-major and little-endian, complete or in chunks; called when the tensor is written. */
  data(): Uint8Array | Promise<Uint8Array> | AsyncIterable<Uint8Array>
}

/**
 * Writes a safetensors file one tensor at a time. It is written to a temporary file and renamed when it is complete and
 * synced, so that an existing file survives a failure.
 * @throws disk_full, file_unwritable
 */
export async function writeSafetensors(
  file: string,
  tensors: readonly TensorSource[],
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  const partial = `${file}.${process.pid}.partial`
  try {
    const handle = await open(partial, 'wx')
    try {
      await writeAll(handle, headerOf(tensors, metadata))
      for (const tensor of tensors) await writeTensor(handle, tensor)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(partial, file)
  } catch (error) {
    await rm(partial, {force: true})
    throw writeFault(error, file)
  }
}

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

async function writeTensor(handle: FileHandle, tensor: TensorSource): Promise<void> {
  const data = await tensor.data()
  let written = 0
  for await (const piece of data instanceof Uint8Array ? [data] : data) {
    await writeAll(handle, piece)
    written += piece.length
  }
  if (written !== byteLength(tensor))
    throw new Error(`The tensor ${tensor.name} has ${written} bytes, but its shape needs ${byteLength(tensor)}.`)
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at, bytes.length - at)).bytesWritten
}
