import {createHash, type Hash} from 'node:crypto'
import {createReadStream, existsSync} from 'node:fs'
import {type FileHandle, mkdir, open, rename, rm, stat} from 'node:fs/promises'
import {dirname} from 'node:path'
import {isErrorOf, SvcError} from '../../errors/index.js'
import {type HubOptions, hubGet, Transient, unreachable, withRetries} from './hub-request.js'
import {type HubFile, refuseDenied} from './repository.js'

export interface Download {
  id: string
  url: string
  file: HubFile
  /** Where it goes; `.incomplete` is added while it is not whole. */
  path: string
  /** Bytes of this file that are there. */
  onBytes: (bytes: number) => void
}

/** A file with a wrong checksum is fetched this often. */
const mostMismatches = 2

/**
 * Downloads one file, or goes on with what an earlier download has left. The file appears under its name when it is
 * whole and its checksum is right.
 * @returns whether anything had to be fetched
 * @throws checksum_mismatch, disk_full, hub_access_denied, hub_unreachable, hub_failed; the reason of the signal
 */
export async function download(task: Download, options: HubOptions): Promise<boolean> {
  const {path, file, onBytes} = task
  if (existsSync(path)) {
    onBytes((await stat(path)).size)
    return false
  }
  await mkdir(dirname(path), {recursive: true})
  for (let mismatches = 1; ; mismatches++) {
    const checksum = await withRetries(task.url, options, () => fetchRest(task, options))
    const partial = `${path}.incomplete`
    if (file.checksum === undefined || checksum === file.checksum.hex) {
      await rename(partial, path)
      return true
    }
    await rm(partial, {force: true})
    if (mismatches === mostMismatches)
      throw new SvcError('checksum_mismatch', {file: file.name, expected: file.checksum.hex, actual: checksum})
  }
}

/** Fetches what is missing of a file; gives the checksum of the whole. */
async function fetchRest(task: Download, options: HubOptions): Promise<string> {
  const {file, onBytes} = task
  const partial = `${task.path}.incomplete`
  const handle = await open(partial, 'a+')
  try {
    const {size} = await handle.stat()
    const start = file.size !== undefined && size > file.size ? 0 : size
    if (start < size) await handle.truncate(0)
    const hash = await hashOf(file, partial, start)
    onBytes(start)
    const whole = file.size !== undefined && start === file.size
    if (!whole) await append(handle, hash, start, task, options)
    return hash.digest('hex')
  } catch (error) {
    const full = (error as NodeJS.ErrnoException).code === 'ENOSPC'
    if (full || isErrorOf(error, 'checksum_mismatch')) await rm(partial, {force: true})
    throw full ? new SvcError('disk_full', {path: task.path}, {cause: error}) : error
  } finally {
    await handle.close()
  }
}

/** A hash that has read what is there. Git hashes a file behind a header of its length. */
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
  const response = await hubGet(url, start > 0 ? {range: `bytes=${start}-`} : {}, options)
  await refuseDenied(response, id, options)
  const {statusCode} = response
  if (statusCode !== 200 && statusCode !== 206) {
    await response.body.dump()
    throw new SvcError('hub_failed', {endpoint: options.endpoint, status: statusCode})
  }
  // A server without ranges sends the file from its beginning; so much of it is known already.
  let skip = statusCode === 200 ? start : 0
  let length = start
  try {
    for await (const piece of response.body as AsyncIterable<Buffer>) {
      const fresh = piece.subarray(Math.min(skip, piece.length))
      skip -= piece.length - fresh.length
      length += fresh.length
      if (file.size !== undefined && length > file.size)
        throw new SvcError('checksum_mismatch', {
          file: file.name,
          expected: `that of ${file.size} bytes`,
          actual: 'that of more',
        })
      await handle.write(fresh)
      hash.update(fresh)
      onBytes(length)
    }
  } catch (error) {
    options.signal?.throwIfAborted()
    if (error instanceof SvcError || isOfDisk(error)) throw error
    throw unreachable(options, error)
  }
  if (file.size !== undefined && length < file.size)
    throw new Transient(
      new SvcError('hub_unreachable', {endpoint: options.endpoint, reason: `${file.name} ended too soon`}),
    )
}

const isOfDisk = (error: unknown) =>
  ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')
