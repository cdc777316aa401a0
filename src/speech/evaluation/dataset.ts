import {createReadStream} from 'node:fs'
import {dirname, resolve} from 'node:path'
import {SvcError} from '../../errors/index.js'

/** A recording and its expected text. */
export interface Sample {
  path: string
  expected: string
  language: string | undefined
}

/** Maximum size of a dataset file, bytes. */
const maxBytes = 64 << 20

/**
 * Reads a dataset: a JSON object per line with `path` (relative to the file), `expected` and an optional `language`.
 * @throws file_not_found, file_unreadable, dataset_invalid
 */
export async function readDataset(file: string): Promise<Sample[]> {
  const lines = (await readText(file)).split('\n')
  const samples = lines.flatMap((line, i) => (line.trim() === '' ? [] : [sampleOf(line, {file, line: i + 1})]))
  if (samples.length === 0) throw new SvcError('dataset_invalid', {file, line: 1, reason: 'it lists no recordings'})
  return samples
}

async function readText(file: string): Promise<string> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of createReadStream(file, {end: maxBytes})) chunks.push(chunk)
  } catch (error) {
    throw SvcError.from(error)
  }
  const bytes = Buffer.concat(chunks)
  if (bytes.length > maxBytes)
    throw new SvcError('dataset_invalid', {file, line: 1, reason: `the file is longer than ${maxBytes >> 20} MiB`})
  return bytes.toString('utf8').replace(/^\uFEFF/, '')
}

function sampleOf(text: string, place: {file: string; line: number}): Sample {
  const fail = (reason: string) => new SvcError('dataset_invalid', {...place, reason})
  let row: unknown
  try {
    row = JSON.parse(text)
  } catch {
    throw fail('it is not JSON')
  }
  const {path, expected, language} = (row ?? {}) as Readonly<Record<string, unknown>>
  if (typeof path !== 'string' || path === '') throw fail('path must be a non-empty string')
  if (typeof expected !== 'string') throw fail('expected must be a string')
  if (language !== undefined && language !== null && typeof language !== 'string')
    throw fail('language must be a string')
  return {path: resolve(dirname(place.file), path), expected, language: language ?? undefined}
}
