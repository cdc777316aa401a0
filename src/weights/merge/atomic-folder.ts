import {mkdir, readdir, rename, rm} from 'node:fs/promises'
import {basename, dirname, join} from 'node:path'
import {writeFault} from '../../files/index.js'
import {isRunning} from '../../process/index.js'

/**
 * Makes a folder under another name and moves it to its place when it is whole; what was there is replaced then, and
 * stays when making fails.
 * @throws disk_full, file_unwritable; what `make` throws
 */
export async function writeFolderAtomic(path: string, make: (partial: string) => Promise<void>): Promise<void> {
  const partial = `${path}.${process.pid}.partial`
  try {
    await mkdir(dirname(path), {recursive: true})
    await make(partial)
    await replace(path, partial)
  } catch (error) {
    await rm(partial, {recursive: true, force: true})
    throw writeFault(error, path)
  }
}

/** A folder takes the place of an empty one in one step; one that is not empty must be moved away first. */
async function replace(path: string, partial: string): Promise<void> {
  const isTaken = ({code}: NodeJS.ErrnoException) => ['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(code ?? '')
  const moved = await rename(partial, path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (!isTaken(error)) throw error
      return false
    },
  )
  if (moved) return
  const old = `${path}.${process.pid}.replaced`
  await rename(path, old)
  try {
    await rename(partial, path)
  } catch (error) {
    await rename(old, path)
    throw error
  }
  await rm(old, {recursive: true})
}

/** Removes what processes that were killed left behind while they made the file or the folder `path`. */
export async function removeAbandoned(path: string): Promise<void> {
  const names = await readdir(dirname(path)).catch(() => [])
  for (const name of names) {
    const [, of, pid] = /^(.+)\.(\d+)\.partial$/.exec(name) ?? []
    if (of === basename(path) && !isRunning(Number(pid))) await rm(join(dirname(path), name), {recursive: true})
  }
}
