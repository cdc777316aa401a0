import {stat} from 'node:fs/promises'
import {SvcError} from '../errors/index.js'
import {writeFileAtomic} from './atomic-write.js'

/** What a command may do to files that are there. */
export interface OutputRule {
  /** Replace a file that is there, if it is no input. */
  overwrite: boolean
  /** Paths of what the command reads; `-` and what is not there count for nothing. */
  inputs: readonly string[]
}

/**
 * Refuses results that would replace an existing file, unless it may be overwritten; an input; or a folder. Called before
 * the work, so that none is wasted. A device or a pipe can be written into.
 * @throws output_exists, output_is_input
 */
export async function checkOutputs(paths: Iterable<string>, {overwrite, inputs}: OutputRule): Promise<void> {
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
  }
}

/**
 * Writes a result by the same rule, which holds until the file is written: one that appeared meanwhile is kept.
 * @throws output_exists, output_is_input, disk_full, file_unwritable
 */
export async function writeOutput(path: string, content: string | Uint8Array, rule: OutputRule): Promise<void> {
  await checkOutputs([path], rule)
  await writeFileAtomic(path, content, {keep: !rule.overwrite})
}

export const isFolder = async (path: string): Promise<boolean> => (await fileAt(path))?.isDirectory() === true

const fileAt = (path: string) => stat(path, {bigint: true}).catch(() => undefined)
