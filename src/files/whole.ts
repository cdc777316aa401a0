import {randomUUID} from 'node:crypto'
import {chmodSync, mkdirSync, renameSync, rmSync, type Stats, statSync, writeFileSync} from 'node:fs'
import {chmod, mkdir, rename, rm, stat, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {SvcError} from '../errors/index.js'

export interface WholeFileOptions {
  /** Of the file; when left out that of the file which it replaces, or what the system gives new files. */
  mode?: number
  /** Of folders that are made for it. */
  folderMode?: number
  /** Wait until it is on the disk. */
  flush?: boolean
}

/**
 * Writes a whole file or none, in the place of what was there: it appears under its name when it is complete. Folders
 * that are missing are made. Of several who write at once one wins, and its file is whole. A device or a pipe is no file
 * that could be replaced: it is written into.
 * @throws disk_full, file_unreadable, file_not_found
 */
export async function writeWholeFile(
  path: string,
  content: string | Uint8Array,
  options: WholeFileOptions = {},
): Promise<void> {
  const {folderMode, ...creation} = options
  const partial = partialOf(path)
  try {
    const found = await stat(path).catch(() => undefined)
    if (isSpecial(found)) return await writeFile(path, content)
    await mkdir(dirname(path), {recursive: true, mode: folderMode})
    await writeFile(partial, content, {mode: found?.mode, ...creation, flag: 'wx'})
    if (found !== undefined && options.mode === undefined) await chmod(partial, found.mode)
    await rename(partial, path)
  } catch (error) {
    await rm(partial, {force: true}).catch(() => undefined)
    throw faultOf(error, path)
  }
}

/** The same, for those who cannot wait. @throws disk_full, file_unreadable, file_not_found */
export function writeWholeFileSync(path: string, content: string | Uint8Array, options: WholeFileOptions = {}): void {
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
    throw faultOf(error, path)
  }
}

const isSpecial = (found: Stats | undefined): boolean => found !== undefined && !found.isFile() && !found.isDirectory()

function removeSync(partial: string): void {
  try {
    rmSync(partial, {force: true})
  } catch {
    // What the file could not be written for is told, not this.
  }
}

/** Beside the file, for a name is given to another file within one file system alone; and different for each writer. */
const partialOf = (path: string) => join(dirname(path), `.svc-${randomUUID().slice(0, 8)}.new`)

/** A write that fails does not say into which file. */
const faultOf = (error: unknown, path: string) => SvcError.from(Object.assign(error as Error, {path}))
