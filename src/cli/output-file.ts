import {mkdir, rename, rm, writeFile} from 'node:fs/promises'
import {basename, dirname, join} from 'node:path'
import {SvcError} from '../errors/index.js'

/**
 * Writes a whole file or none: it appears under its name when it is complete.
 * @throws disk_full, file_unreadable, file_not_found
 */
export async function writeOutputFile(path: string, text: string): Promise<void> {
  const partial = join(dirname(path), `.${basename(path)}.${process.pid}.new`)
  try {
    await mkdir(dirname(path), {recursive: true})
    await writeFile(partial, text)
    await rename(partial, path)
  } catch (error) {
    await rm(partial, {force: true}).catch(() => undefined)
    // A write that fails does not say into which file.
    throw SvcError.from(Object.assign(error as Error, {path}))
  }
}
