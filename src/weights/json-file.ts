import {readFile} from 'node:fs/promises'
import {isObject} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {refusePointer} from './lfs-pointer.js'

/**
 * Reads a JSON file that must contain an object.
 * @throws model_file_invalid, lfs_pointer, file_not_found, file_unreadable
 */
export async function readJsonObject(file: string): Promise<Record<string, unknown>> {
  const source = await readFile(file, 'utf8').catch((error: unknown) => {
    throw SvcError.from(error)
  })
  refusePointer(file, source)
  let value: unknown
  try {
    value = JSON.parse(source)
  } catch (error) {
    throw new SvcError('model_file_invalid', {file, reason: (error as Error).message}, {cause: error})
  }
  if (!isObject(value)) throw new SvcError('model_file_invalid', {file, reason: 'it does not contain a JSON object'})
  return value as Record<string, unknown>
}
