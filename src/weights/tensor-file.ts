import {type FileHandle, open, rename, rm} from 'node:fs/promises'
import {writeFault} from '../files/index.js'

/** The data of a tensor that follows the head of a file. */
export interface TensorData {
  name: string
  /** Bytes. */
  length: number
  /** Its bytes, row-major and little-endian, complete or in chunks; called when the tensor is written. */
  data(): Uint8Array | Promise<Uint8Array> | AsyncIterable<Uint8Array>
}

export interface TensorFileOptions {
  /** The data of each tensor is followed by zeros up to a multiple of this number of bytes. Default: 1. */
  alignment?: number
  /**
   * Called when the head and the first tensors are written, with the path of a file that has zeros instead of the others. What
   * it throws stops the write.
   */
  check?: ((partial: string) => Promise<void>) | undefined
  /** Number of these first tensors. */
  first?: number
}

/**
 * Writes a head and then one tensor at a time. The file is written under a temporary name and renamed when it is complete and
 * synced, so that an existing file survives a failure.
 * @throws disk_full, file_unwritable; what `check` throws
 */
export async function writeTensorFile(
  file: string,
  head: Uint8Array,
  tensors: readonly TensorData[],
  {alignment = 1, check, first = 0}: TensorFileOptions = {},
): Promise<void> {
  const partial = `${file}.${process.pid}.partial`
  try {
    const handle = await open(partial, 'wx')
    try {
      await writeAll(handle, head)
      const size = tensors.reduce((sum, {length}) => sum + aligned(length, alignment), head.length)
      for (const [i, tensor] of tensors.entries()) {
        if (i === first && check !== undefined) {
          await handle.truncate(size)
          await check(partial)
        }
        await writeTensor(handle, tensor)
        await writeAll(handle, new Uint8Array(aligned(tensor.length, alignment) - tensor.length))
      }
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

export const aligned = (size: number, alignment: number): number => Math.ceil(size / alignment) * alignment

async function writeTensor(handle: FileHandle, {name, length, data}: TensorData): Promise<void> {
  const bytes = await data()
  let written = 0
  for await (const piece of bytes instanceof Uint8Array ? [bytes] : bytes) {
    await writeAll(handle, piece)
    written += piece.length
  }
  if (written !== length) throw new Error(`The tensor ${name} has ${written} bytes, but its shape needs ${length}.`)
}

export async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at, bytes.length - at)).bytesWritten
}
