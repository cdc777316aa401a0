import {randomUUID} from 'node:crypto'
import {chmodSync, mkdirSync, renameSync, rmSync, type Stats, statSync, writeFileSync} from 'node:fs'
import {chmod, copyFile, type FileHandle, link, mkdir, open, rename, rm, stat, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {SvcError} from '../errors/index.js'

export interface AtomicWriteOptions {
  /** File mode; default: that of the replaced file, or the system default. */
  mode?: number
  folderMode?: number
  /** Flush to disk. */
  flush?: boolean
}

export interface OutputOptions extends AtomicWriteOptions {
  /** Fail if the file exists. */
  keep?: boolean
}

/**
 * Writes or replaces a file atomically, by renaming a complete temporary file. Creates missing folders. If several
 * processes write concurrently, one complete file remains. Devices and pipes are written to directly.
 * @throws disk_full, file_unwritable; output_exists with `keep`
 */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array | AsyncIterable<string> | AsyncIterable<Uint8Array>,
  options: OutputOptions = {},
): Promise<void> {
  const {folderMode, keep = false, ...creation} = options
  const partial = partialOf(path)
  try {
    const found = await stat(path).catch(() => undefined)
    if (isSpecial(found)) return await writeFile(path, content)
    await mkdir(dirname(path), {recursive: true, mode: folderMode})
    await writeFile(partial, content, {mode: found?.mode, ...creation, flag: 'wx'})
    if (found !== undefined && options.mode === undefined) await chmod(partial, found.mode)
    await placeFile(partial, path, {keep})
  } catch (error) {
    await rm(partial, {force: true}).catch(() => undefined)
    throw writeFault(error, path)
  }
}

/** Gives a complete temporary file its name. @throws output_exists with `keep` */
export const placeFile = (partial: string, path: string, {keep}: {keep: boolean}): Promise<void> =>
  keep ? renameExclusively(partial, path) : rename(partial, path)

/** Renames a file to an unused name. If several processes do so concurrently, one succeeds. */
async function renameExclusively(partial: string, path: string): Promise<void> {
  try {
    await link(partial, path).catch((error: NodeJS.ErrnoException) => {
      if (!noLinks.has(error.code ?? '')) throw error
      return createFilled(path, () => copyFile(partial, path))
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new SvcError('output_exists', {path, flag: '--overwrite'}, {cause: error})
  }
  await rm(partial, {force: true})
}

/** Codes of file systems without hard links, or with a limit of them. */
const noLinks: ReadonlySet<string> = new Set(['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'])

/** Creates a file that does not exist. If it cannot be filled, as on a full disk, it is removed. @throws system errors */
async function createFilled(path: string, fill: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, 'wx')
  try {
    await fill(file)
  } catch (error) {
    await rm(path, {force: true})
    throw error
  } finally {
    await file.close()
  }
}

/**
 * Creates a file with a content, which no other process has created; removes it if it cannot be written.
 * @returns false if the path exists
 * @throws disk_full, file_unwritable
 */
export async function createExclusively(path: string, content: string): Promise<boolean> {
  try {
    await createFilled(path, (file) => file.writeFile(content))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw writeFault(error, path)
  }
}

/** Synchronous form of `writeFileAtomic`. @throws disk_full, file_unwritable */
export function writeFileAtomicSync(
  path: string,
  content: string | Uint8Array,
  options: AtomicWriteOptions = {},
): void {
  const {folderMode, ...creation} = options
  const partial = partialOf(path)
  try {
    const found = statSync(path, {throwIfNoEntry: false})
    if (isSpecial(found)) {
      writeFileSync(path, content)
      return
    }
    mkdirSync(dirname(path), {recursive: true, mode: folderMode})
    writeFileSync(partial, content, {mode: found?.mode, ...creation, flag: 'wx'})
    if (found !== undefined && options.mode === undefined) chmodSync(partial, found.mode)
    renameSync(partial, path)
  } catch (error) {
    removeSync(partial)
    throw writeFault(error, path)
  }
}

const isSpecial = (found: Stats | undefined): boolean => found !== undefined && !found.isFile() && !found.isDirectory()

function removeSync(partial: string): void {
  try {
    rmSync(partial, {force: true})
  } catch {
    // The caller reports why the file could not be written.
  }
}

/** Temporary path: in the same folder, because a rename must stay on one file system, and unique for each writer. */
export const partialOf = (path: string) => join(dirname(path), `.svc-${randomUUID().slice(0, 8)}.new`)

/** Reasons why a file cannot be written, by system error code. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EISDIR: 'it is a directory',
  ENOTEMPTY: 'it is a directory',
  ENOENT: 'its directory does not exist',
  ENOTDIR: 'a part of the path is a file, not a directory',
  EEXIST: 'a part of the path is a file, not a directory',
  ELOOP: 'its symbolic links form a loop',
  ENAMETOOLONG: 'its name is too long',
}

export function writeFault(thrown: unknown, path: string): SvcError {
  const {code = ''} = thrown as NodeJS.ErrnoException
  const reason = reasons[code]
  if (thrown instanceof SvcError || reason === undefined) return SvcError.from(Object.assign(thrown as Error, {path}))
  return new SvcError('file_unwritable', {path, reason}, {cause: thrown})
}
