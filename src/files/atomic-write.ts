import {randomUUID} from 'node:crypto'
import {chmodSync, constants, mkdirSync, renameSync, rmSync, type Stats, statSync, writeFileSync} from 'node:fs'
import {chmod, copyFile, link, mkdir, rename, rm, stat, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {SvcError} from '../errors/index.js'

export interface AtomicWriteOptions {
  /** Of the file; when left out that of the file which it replaces, or what the system gives new files. */
  mode?: number
  folderMode?: number
  /** Wait until it is on the disk. */
  flush?: boolean
}

export interface OutputOptions extends AtomicWriteOptions {
  /** Leave a file that is there as it is, and fail. */
  keep?: boolean
}

/**
 * Writes a file atomically, in the place of what was there: it gets its name when it is complete. Missing folders are
 * created. When several processes write at once, one of the complete files remains. A device or a pipe cannot be
 * replaced: it is written into.
 * @throws disk_full, file_unwritable; output_exists with `keep`
 */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
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
    if (keep) await renameExclusively(partial, path)
    else await rename(partial, path)
  } catch (error) {
    await rm(partial, {force: true}).catch(() => undefined)
    throw writeFault(error, path)
  }
}

/** Renames a file to a name that no other file has; when several processes do so at once, one succeeds. */
async function renameExclusively(partial: string, path: string): Promise<void> {
  const isTaken = (error: NodeJS.ErrnoException) => error.code === 'EEXIST'
  try {
    // Some file systems have no links.
    await link(partial, path).catch((error) => {
      if (isTaken(error)) throw error
      return copyFile(partial, path, constants.COPYFILE_EXCL)
    })
  } catch (error) {
    if (!isTaken(error as NodeJS.ErrnoException)) throw error
    throw new SvcError('output_exists', {path, flag: '--overwrite'}, {cause: error})
  }
  await rm(partial, {force: true})
}

/** The same, synchronously. @throws disk_full, file_unwritable */
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

/** In the same folder, since a file can be renamed within one file system only; and different for each writer. */
const partialOf = (path: string) => join(dirname(path), `.svc-${randomUUID().slice(0, 8)}.new`)

/** Why a file cannot be written, by the code of the system. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EISDIR: 'it is a folder',
  ENOTEMPTY: 'it is a folder',
  ENOENT: 'its folder is gone',
  ENOTDIR: 'a file lies where it needs a folder',
  EEXIST: 'a file lies where it needs a folder',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
}

export function writeFault(thrown: unknown, path: string): SvcError {
  const {code = ''} = thrown as NodeJS.ErrnoException
  const reason = reasons[code]
  if (thrown instanceof SvcError || reason === undefined) return SvcError.from(Object.assign(thrown as Error, {path}))
  return new SvcError('file_unwritable', {path, reason}, {cause: thrown})
}
