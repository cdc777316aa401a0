import {constants, type FileHandle, open, rm, stat} from 'node:fs/promises'
import {SvcError} from '../errors/index.js'
import {writeFault, writeFileAtomic} from './atomic-write.js'

/** Rule for existing output files. */
export interface OutputRule {
  /** Replace an existing file that is not an input. */
  overwrite: boolean
  /** Paths of the inputs; `-` and missing files are ignored. */
  inputs: readonly string[]
  /** Refuse devices and pipes, which the output would replace. */
  onlyFiles?: boolean
}

/**
 * Refuses outputs that would replace an input, a folder, or an existing file without `overwrite`. Must be called before
 * the work, so that no work is wasted. Devices and pipes are permitted, unless `onlyFiles` is set.
 * @throws output_exists, output_is_input, file_unwritable
 */
export async function checkOutputs(
  paths: Iterable<string>,
  {overwrite, inputs, onlyFiles = false}: OutputRule,
): Promise<void> {
  const readInputs = () => Promise.all(inputs.map(async (input) => ({input, found: await fileAt(input)})))
  let read: Awaited<ReturnType<typeof readInputs>> | undefined
  for (const path of paths) {
    const found = await fileAt(path)
    if (found === undefined) continue
    read ??= await readInputs()
    const same = read.find((one) => one.found?.ino === found.ino && one.found.dev === found.dev)
    if (same !== undefined && found.isFile()) throw new SvcError('output_is_input', {path, input: same.input})
    if (found.isDirectory()) throw new SvcError('output_exists', {path, flag: undefined})
    if (found.isFile() && !overwrite) throw new SvcError('output_exists', {path, flag: '--overwrite'})
    if (onlyFiles && !found.isFile()) throw new SvcError('file_unwritable', {path, reason: 'it is not a regular file'})
  }
}

/**
 * Writes an output according to the rule. A file created meanwhile is not overwritten either.
 * @throws output_exists, output_is_input, disk_full, file_unwritable
 */
export async function writeOutput(path: string, content: string | Uint8Array, rule: OutputRule): Promise<void> {
  await checkOutputs([path], rule)
  await writeFileAtomic(path, content, {keep: !rule.overwrite})
}

/**
 * An output that grows while others read it. It is reserved when it is opened, and changed by the first text, so that work
 * that fails before has changed nothing.
 */
export class GrowingOutput {
  readonly #path: string
  readonly #file: FileHandle
  readonly #isNew: boolean
  #isUnchanged = true

  private constructor(path: string, file: FileHandle, isNew: boolean) {
    this.#path = path
    this.#file = file
    this.#isNew = isNew
  }

  /**
   * Follows the rule of `checkOutputs`. An existing file is accepted only if no other command of svc has it open, so that two
   * of them never write to one file. Of two that start to replace a file at the same moment, both may be refused.
   * @throws output_exists, output_in_use, disk_full, file_unwritable
   */
  static async open(path: string, overwrite: boolean): Promise<GrowingOutput> {
    try {
      return new GrowingOutput(path, await open(path, 'wx'), true)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw writeFault(error, path)
    }
    if (!overwrite && (await stat(path)).isFile()) throw new SvcError('output_exists', {path, flag: '--overwrite'})
    const file = await open(path, constants.O_WRONLY | constants.O_CREAT).catch((error: unknown) => {
      throw writeFault(error, path)
    })
    try {
      if ((await file.stat()).isFile()) {
        // Imported late: commands that write whole files do not load it.
        const {usersText} = await import('../process/index.js')
        const user = await usersText(path, ({command}) => command.startsWith('svc '))
        if (user !== '') throw new SvcError('output_in_use', {path, user})
      }
      return new GrowingOutput(path, file, false)
    } catch (error) {
      await file.close()
      throw writeFault(error, path)
    }
  }

  /** @throws disk_full, file_unwritable */
  async write(text: string): Promise<void> {
    try {
      if (this.#isUnchanged && (await this.#file.stat()).isFile()) await this.#file.truncate(0)
      this.#isUnchanged = false
      await this.#file.write(text)
    } catch (error) {
      throw writeFault(error, this.#path)
    }
  }

  /** Removes a new file to which nothing was written. */
  async close(): Promise<void> {
    await this.#file.close()
    if (this.#isNew && this.#isUnchanged) await rm(this.#path, {force: true})
  }
}

export const isFolder = async (path: string): Promise<boolean> => (await fileAt(path))?.isDirectory() === true

const fileAt = (path: string) => stat(path, {bigint: true}).catch(() => undefined)
