import {createHash} from 'node:crypto'
import {type FileHandle, open, readdir, stat} from 'node:fs/promises'
import {join} from 'node:path'
import type {RawPcm} from '../../audio/index.js'
import {SvcError} from '../../errors/index.js'
import {packageVersion} from '../../files/index.js'
import type {SpeechModelDescription} from '../model/model.js'

/** What the recognised text depends on, by name; values are plain data. */
export type Fingerprint = Readonly<Record<string, unknown>>

/** A recording file that can be transcribed again later. */
export interface RecordingFile {
  path: string
  raw?: RawPcm | undefined
}

/**
 * Returns what the text of a recording depends on: its content, the model and the options.
 * @throws file_not_found, file_unreadable
 */
export async function fingerprintOf(
  recording: RecordingFile,
  {path, precision, device}: SpeechModelDescription,
  options: Fingerprint,
): Promise<Fingerprint> {
  try {
    return {
      recording: {...(await contentOf(recording.path)), raw: recording.raw},
      model: {path, precision, device, files: await filesOf(path)},
      'version of svc': packageVersion(),
      ...options,
    }
  } catch (error) {
    throw SvcError.from(error)
  }
}

/** Returns the names of the parts that differ. */
export function differences(a: Fingerprint, b: Fingerprint): string[] {
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].filter((name) => JSON.stringify(a[name]) !== JSON.stringify(b[name]))
}

/** Length of the parts at both ends of a recording that are hashed, bytes; hashing all of it would take too long. */
const hashedBytes = 1 << 20

async function contentOf(path: string) {
  const file = await open(path)
  try {
    const {size, mtimeMs} = await file.stat()
    const start = await hashOf(file, 0)
    return {size, mtimeMs, start, end: await hashOf(file, Math.max(0, size - hashedBytes))}
  } finally {
    await file.close()
  }
}

async function hashOf(file: FileHandle, position: number): Promise<string> {
  const {buffer, bytesRead} = await file.read({buffer: Buffer.alloc(hashedBytes), position})
  return createHash('sha256').update(buffer.subarray(0, bytesRead)).digest('hex')
}

/** Sizes and times of the files of a model, which is a directory or a file. */
async function filesOf(path: string) {
  const isFolder = (await stat(path)).isDirectory()
  const names = isFolder ? (await readdir(path, {recursive: true})).sort() : ['']
  return Promise.all(
    names.map(async (name) => {
      const {size, mtimeMs} = await stat(join(path, name))
      return [name, size, mtimeMs]
    }),
  )
}
