import {createHash} from 'node:crypto'
import {readdir, readFile, realpath, rm, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {SvcError} from '../errors/index.js'
import {writeFileAtomic} from '../files/index.js'
import {sha256Of} from './sha256.js'

/** Folder in the cache with the digests of files. */
const digestFolder = 'digests'

/** A file that was changed so recently may change again without another time in its status, ms. */
const settlingMs = 2000

/** Files up to this size are read in the calling thread, bytes. */
const smallBytes = 4 << 20

/**
 * SHA-256 of files, 64 hexadecimal digits each. Digests are kept in the cache, by device, inode, size, modification time and
 * change time of the file. The operating system sets the latter at every write, from its clock. So another content with the
 * same digest requires that the clock was set back, or that the disk was written to without the file system.
 */
export class FileDigests {
  readonly #folder: string | undefined
  readonly #now: () => number
  readonly #known = new Map<string, Promise<string>>()
  /** One file is read at a time. */
  #reading: Promise<unknown> = Promise.resolve()

  /**
   * @param folder that of derived files; undefined: every file is read once, and nothing is kept
   * @param now Unix ms
   */
  constructor(folder: string | undefined, now = Date.now) {
    this.#now = now
    this.#folder = folder === undefined ? undefined : join(folder, digestFolder)
  }

  /** @throws file_not_found, file_unreadable */
  async of(file: string): Promise<string> {
    try {
      const found = await stat(await realpath(file), {bigint: true})
      const {dev, ino, size, mtimeNs, ctimeNs} = found
      const state = createHash('sha256').update([dev, ino, size, mtimeNs, ctimeNs].join(' ')).digest('hex')
      const known = this.#known.get(state) ?? this.#find(file, state, Number(size), Number(found.ctimeMs))
      this.#known.set(state, known)
      return await known
    } catch (error) {
      throw SvcError.from(error)
    }
  }

  async #find(file: string, state: string, size: number, changedMs: number): Promise<string> {
    const kept = this.#folder === undefined ? undefined : join(this.#folder, state)
    const digest = kept === undefined ? undefined : await readFile(kept, 'utf8').catch(() => undefined)
    if (digest !== undefined && /^[0-9a-f]{64}$/.test(digest)) return digest
    const isSettled = changedMs + settlingMs < this.#now()
    const computed = await this.#read(() => (size <= smallBytes ? sha256Of(file) : sha256InThread(file)))
    // Without a writable cache, the file is read again by the next process.
    if (kept !== undefined && isSettled) await writeFileAtomic(kept, computed).catch(() => undefined)
    return computed
  }

  #read(work: () => Promise<string>): Promise<string> {
    const read = this.#reading.then(work)
    this.#reading = read.catch(() => undefined)
    return read
  }
}

/** Deletes the digests that were computed before a time, Unix ms. */
export async function pruneDigests(folder: string, beforeMs: number): Promise<void> {
  const kept = join(folder, digestFolder)
  for (const name of await readdir(kept).catch(() => [])) {
    const found = await stat(join(kept, name)).catch(() => undefined)
    if (found !== undefined && found.mtimeMs <= beforeMs) await rm(join(kept, name), {force: true})
  }
}

/** A large file would delay everything else in this thread. */
async function sha256InThread(file: string): Promise<string> {
  const {startThread} = await import('../process/index.js')
  const program = new URL('./digest-worker.js', import.meta.url)
  const failure = (reason: string, cause?: unknown) => new SvcError('file_unreadable', {path: file, reason}, {cause})
  const {description, exited} = await startThread<string>(program, {data: file, failure})
  await exited
  return description
}
