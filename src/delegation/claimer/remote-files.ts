import {createHash} from 'node:crypto'
import {lstat, mkdir, readFile, realpath, rename, rm, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import type {ManifestEntry} from '../../contracts/index.js'
import {isWithin} from '../../files/index.js'
import {maxBlobBytes} from '../../mesh/index.js'

/** Files by digest, as stored by the control plane. */
export interface BlobStore {
  /** @returns SHA-256 in hexadecimal */
  putBlob(bytes: Uint8Array): Promise<string>
  getBlob(sha256: string): Promise<Uint8Array>
}

/** A problem with the files of a delegated task, as a sentence. */
export class RemoteFileError extends Error {
  override readonly name = 'RemoteFileError'
}

/** Digest of each existing file by path. */
export type Digests = Readonly<Record<string, string>>

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Contents of a regular file; undefined if there is none. @throws RemoteFileError */
async function readRegular(root: string, path: string): Promise<Buffer | undefined> {
  const file = join(root, path)
  const found = await lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  if (found === undefined) return undefined
  if (!found.isFile()) throw new RemoteFileError(`${path} is not a regular file`)
  if (!isWithin(await realpath(root), await realpath(file)))
    throw new RemoteFileError(`${path} is outside the workspace`)
  if (found.size > maxBlobBytes) throw new RemoteFileError(`${path} is larger than ${maxBlobBytes} bytes`)
  return readFile(file)
}

export interface SentFile {
  path: string
  access: 'read' | 'write'
  sha256?: string
  size?: number
}

/** Uploads the files of a task that exist. @throws RemoteFileError, the errors of the control plane */
export async function sendFiles(
  root: string,
  manifest: readonly ManifestEntry[],
  blobs: BlobStore,
): Promise<SentFile[]> {
  const sent: SentFile[] = []
  for (const {path, access} of manifest) {
    const bytes = await readRegular(root, path)
    sent.push(
      bytes === undefined ? {path, access} : {path, access, sha256: await blobs.putBlob(bytes), size: bytes.length},
    )
  }
  return sent
}

/** A file that a worker has written; without a digest, it was deleted. */
export interface WrittenFile {
  path: string
  sha256?: string | undefined
}

/** Downloads the written files into a folder, which is created. @throws RemoteFileError, the errors of the control plane */
export async function receiveFiles(
  folder: string,
  written: readonly WrittenFile[],
  manifest: readonly ManifestEntry[],
  blobs: BlobStore,
): Promise<void> {
  const writable = new Set(manifest.flatMap(({path, access}) => (access === 'write' ? [path] : [])))
  const stranger = written.find(({path}) => !writable.has(path))
  if (stranger !== undefined) throw new RemoteFileError(`${stranger.path} is not a file that the task writes`)
  await rm(folder, {recursive: true, force: true})
  await mkdir(folder, {recursive: true, mode: 0o700})
  for (const [i, {sha256}] of written.entries())
    if (sha256 !== undefined) await writeFile(newFile(folder, i), await blobs.getBlob(sha256), {mode: 0o600})
}

const newFile = (folder: string, i: number) => join(folder, `${i}.new`)
const oldFile = (folder: string, i: number) => join(folder, `${i}.old`)

/**
 * Requires the files that a result replaces to be as they were when they were sent.
 * @throws RemoteFileError naming the first one that has changed
 */
export async function requireUnchanged(root: string, written: readonly WrittenFile[], sent: Digests): Promise<void> {
  for (const {path} of written) {
    const bytes = await readRegular(root, path)
    if ((bytes === undefined ? undefined : digestOf(bytes)) !== sent[path])
      throw new RemoteFileError(`${path} has changed since the task was sent to another node`)
  }
}

/**
 * Replaces the files of the workspace by the received ones. The previous ones stay in the folder until the result is
 * stored; `restoreFiles` moves them back, also after a crash during this function.
 */
export async function replaceFiles(root: string, folder: string, written: readonly WrittenFile[]): Promise<void> {
  const realRoot = await realpath(root)
  for (const [i, {path, sha256}] of written.entries()) {
    const file = join(root, path)
    await mkdir(dirname(file), {recursive: true})
    if (!isWithin(realRoot, await realpath(dirname(file))))
      throw new RemoteFileError(`${path} is outside the workspace`)
    await rename(file, oldFile(folder, i)).catch(ignoreMissing)
    if (sha256 !== undefined) await rename(newFile(folder, i), file)
  }
}

/** Moves the previous files back, and removes new ones. Changes nothing where the replacement has not happened. */
export async function restoreFiles(root: string, folder: string, written: readonly WrittenFile[]): Promise<void> {
  for (const [i, {path, sha256}] of written.entries()) {
    const file = join(root, path)
    const hasOld = (await lstat(oldFile(folder, i)).catch(ignoreMissing)) !== undefined
    const isReplaced = sha256 !== undefined && (await lstat(newFile(folder, i)).catch(ignoreMissing)) === undefined
    if (hasOld) await rename(oldFile(folder, i), file)
    else if (isReplaced) await rm(file, {force: true})
  }
  await rm(folder, {recursive: true, force: true})
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
  return undefined
}
