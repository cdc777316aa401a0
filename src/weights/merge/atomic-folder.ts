import {mkdir, readdir, rename, rm} from 'node:fs/promises'
import {basename, dirname, join} from 'node:path'
import {writeFault} from '../../files/index.js'
import {isRunning} from '../../process/index.js'

/**
 * Creates a folder under a temporary name and renames it when it is complete. An existing folder is replaced only then.
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

/** Renaming replaces an empty folder atomically; a non-empty one must be moved away first. */
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

/** Removes temporary files and folders of killed processes that were writing `path`. */
export async function removeAbandoned(path: string): Promise<void> {
  const names = await readdir(dirname(path)).catch(() => [])
  for (const name of names) {
    const [, of, pid] = /^(.+)\.(\d+)\.partial$/.exec(name) ?? []
    if (of === basename(path) && !isRunning(Number(pid))) await rm(join(dirname(path), name), {recursive: true})
  }
}
