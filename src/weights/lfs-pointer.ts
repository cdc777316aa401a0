import {open} from 'node:fs/promises'
import {SvcError} from '../errors/index.js'

/** The beginning of a Git LFS pointer; the older address is that of its first version. Source: its specification. */
const pointer = /^version https:\/\/(?:git-lfs\.github\.com|hawser\.github\.com)\/spec\/v1\r?\n/

/** Maximum size of a pointer in its specification, bytes. */
const maxPointerBytes = 1024

/**
 * Refuses a file of a model that Git LFS has not downloaded.
 * @param start the text of the file, or its beginning
 * @throws lfs_pointer
 */
export function refusePointer(file: string, start: string): void {
  if (!pointer.test(start)) return
  const size = /^size (\d+)\r?$/m.exec(start)?.[1]
  throw new SvcError('lfs_pointer', {file, ...(size === undefined ? {} : {size: Number(size)})})
}

/** The same for a file that another library reads. Other faults of the file are left to that library. */
export async function refusePointerFile(file: string): Promise<void> {
  const handle = await open(file).catch(() => undefined)
  if (handle === undefined) return
  try {
    const {buffer, bytesRead} = await handle.read(Buffer.alloc(maxPointerBytes), 0, maxPointerBytes, 0)
    refusePointer(file, buffer.toString('latin1', 0, bytesRead))
  } finally {
    await handle.close()
  }
}
