import {createHash, type Hash} from 'node:crypto'
import {constants, createReadStream} from 'node:fs'
import {type FileHandle, mkdir, open, rename, rm, stat} from 'node:fs/promises'
import {dirname} from 'node:path'
import {isErrorOf, SvcError} from '../../errors/index.js'
import {bodyOf, type HubOptions, hubGet, Transient, withRetries} from './hub-request.js'
import {type HubFile, refuseDenied} from './repository.js'

export interface Download {
  id: string
  url: string
  file: HubFile
  /** Target path; a partial download has the suffix `.incomplete`. */
  path: string
  /** Called with the number of bytes of this file that are present. */
  onBytes: (bytes: number) => void
}

/** Maximum download attempts of a file with a wrong checksum. */
const maxMismatches = 2

/**
 * Downloads one file, or resumes an earlier download. The file gets its final name when it is complete and its checksum
 * is correct.
 * @returns whether anything was downloaded
 * @throws checksum_mismatch, disk_full, hub_access_denied, hub_model_unknown, hub_unreachable, hub_failed; the reason of
 *   the signal
 */
export async function download(task: Download, options: HubOptions): Promise<boolean> {
  const {path, file, onBytes} = task
  const existing = await stat(path).catch(() => undefined)
  if (existing !== undefined && (file.size ?? existing.size) === existing.size) {
    onBytes(existing.size)
    return false
  }
  await mkdir(dirname(path), {recursive: true})
  for (let mismatches = 1; ; mismatches++) {
    try {
      await withRetries(task.url, options, () => fetchRest(task, options))
      await rename(partialOf(path), path)
      return true
    } catch (error) {
      if (!isErrorOf(error, 'checksum_mismatch') || mismatches === maxMismatches) throw error
    }
  }
}

const partialOf = (path: string) => `${path}.incomplete`

/** Downloads the missing part of a file and verifies the checksum of the complete file. */
async function fetchRest(task: Download, options: HubOptions): Promise<void> {
  const {file, onBytes} = task
  const partial = partialOf(task.path)
  const handle = await open(partial, constants.O_RDWR | constants.O_CREAT)
  try {
    const {size} = await handle.stat()
    const start = file.size !== undefined && size > file.size ? 0 : size
    if (start < size) await handle.truncate(0)
    const hash = await hashOf(file, partial, start)
    onBytes(start)
    const complete = file.size !== undefined && start === file.size
    if (!complete) await append(handle, hash, start, task, options)
    const actual = hash.digest('hex')
    const expected = file.checksum?.hex ?? actual
    if (actual !== expected)
      throw new SvcError('checksum_mismatch', {file: file.name, expected: `checksum ${expected}`, actual})
    // Sync before the rename: the final name guarantees correct contents, even after a power failure.
    await handle.datasync()
  } catch (error) {
    const full = ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')
    if (full || isErrorOf(error, 'checksum_mismatch')) await rm(partial, {force: true})
    throw full ? new SvcError('disk_full', {path: task.path}, {cause: error}) : error
  } finally {
    await handle.close()
  }
}

/** A hash over the bytes downloaded so far. Git hashes a file after a header with its length. */
async function hashOf({checksum, size}: HubFile, partial: string, length: number): Promise<Hash> {
  const git = checksum?.algorithm === 'git-sha1'
  const hash = createHash(git ? 'sha1' : 'sha256')
  if (git) hash.update(`blob ${size ?? 0}\0`)
  if (length > 0) for await (const piece of createReadStream(partial, {end: length - 1})) hash.update(piece)
  return hash
}

async function append(
  handle: FileHandle,
  hash: Hash,
  start: number,
  {id, url, file, onBytes}: Download,
  options: HubOptions,
): Promise<void> {
  const {endpoint} = options
  const response = await hubGet(url, start > 0 ? {range: `bytes=${start}-`} : {}, options)
  await refuseDenied(response, id, options)
  const {statusCode} = response
  if (statusCode !== 200 && statusCode !== 206) {
    await response.body.dump()
    const failure = new SvcError('hub_failed', {endpoint, status: statusCode})
    if (statusCode !== 416) throw failure
    // The server rejects the range; retry from the start.
    await handle.truncate(0)
    throw new Transient(failure)
  }
  // A server without range support sends the file from the start; skip the bytes that are present.
  let skip = statusCode === 200 ? start : 0
  let length = start
  for await (const piece of bodyOf(response, options)) {
    const fresh = piece.subarray(Math.min(skip, piece.length))
    skip -= piece.length - fresh.length
    if (file.size !== undefined && length + fresh.length > file.size) throw tooLong(file.name, file.size)
    await writeAll(handle, fresh, length)
    length += fresh.length
    hash.update(fresh)
    onBytes(length)
  }
  if (file.size !== undefined && length < file.size)
    throw new Transient(
      new SvcError('hub_unreachable', {endpoint, reason: `the download of ${file.name} was incomplete`}),
    )
}

const tooLong = (file: string, size: number) =>
  new SvcError('checksum_mismatch', {
    file,
    expected: `${size} bytes`,
    actual: 'more',
  })

/** Repeats partial writes: a disk that is almost full writes fewer bytes without an error. */
async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const {bytesWritten} = await handle.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}
