import {randomUUID} from 'node:crypto'
import {mkdir, rename, rm, writeFile} from 'node:fs/promises'
import {basename, dirname, join} from 'node:path'
import {SvcError} from '../../errors/index.js'
import {outputInside} from '../contained-path.js'
import type {FileOutcomes} from './report.js'

/**
 * Writes a program into the workspace, whole or not at all: it appears under its name when it is complete.
 * @throws path_refused, output_exists, disk_full, file_unreadable
 */
export async function writeProgram(root: string, path: string, code: string): Promise<FileOutcomes> {
  const target = await outputInside(root, path)
  const partial = join(dirname(target), `.${basename(target)}.${randomUUID()}.new`)
  try {
    await mkdir(dirname(target), {recursive: true})
    await writeFile(partial, code, {flag: 'wx'})
    await rename(partial, target)
  } catch (error) {
    await rm(partial, {force: true}).catch(() => undefined)
    // A write that fails does not say into which file.
    throw SvcError.from(Object.assign(error as Error, {path}))
  }
  return {
    schema: 'svc_generate_code_file_outcomes_v1',
    schema_version: 1,
    written_paths: [path],
    bytes_written: Buffer.byteLength(code),
    artifact_kind: 'svc_generated',
  }
}
