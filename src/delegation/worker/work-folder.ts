import {createHash} from 'node:crypto'
import {constants, writeFileSync} from 'node:fs'
import {lstat, mkdir, mkdtemp, open, readdir, readFile, realpath, rm, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {SvcError} from '../../errors/index.js'
import {containedOutput} from '../../files/index.js'
import {type CallOptions, maxBlobBytes, maxScopeBlobBytes, type RemoteWork} from '../../mesh/index.js'
import {processStart} from '../../process/index.js'
import {isMissing, persist, type WorkerMesh} from './mesh.js'

/** Folder of one run, which only this user can access. */
export interface WorkFolder {
  /** Working directory of the run, without symbolic links in its path. */
  readonly root: string
  /** Records the process group of the command, so that the next worker can kill it if this one is killed. */
  recordProcess(pid: number, start: string): void
  remove(): Promise<void>
}

type Blobs = Pick<WorkerMesh, 'putBlob' | 'getBlob'>
type Files = NonNullable<RemoteWork['files']>
/** A file as listed in a result. One without a digest was deleted. */
export interface WrittenFile {
  path: string
  sha256?: string
  size?: number
}

const processFile = 'process.json'

export async function createWorkFolder(parent: string): Promise<WorkFolder> {
  await mkdir(parent, {recursive: true, mode: 0o700})
  const folder = await mkdtemp(join(await realpath(parent), 'run-'))
  const root = join(folder, 'files')
  await mkdir(root, {mode: 0o700})
  return {
    root,
    recordProcess: (pid, start) => writeFileSync(join(folder, processFile), JSON.stringify({pid, start})),
    remove: () => rm(folder, {recursive: true, force: true}),
  }
}

/**
 * Removes the folders that a killed worker left behind, and kills the commands that run in them: a second run of the
 * same task would interfere with them. Must not be called while another worker uses the folder.
 */
export async function clearWork(parent: string): Promise<void> {
  const names = await readdir(parent).catch(() => [])
  for (const name of names) {
    const folder = join(parent, name)
    await killRecorded(join(folder, processFile))
    // What cannot be removed takes space, but does not disturb later runs.
    await rm(folder, {recursive: true, force: true}).catch(() => undefined)
  }
}

async function killRecorded(path: string): Promise<void> {
  try {
    const {pid, start} = JSON.parse(await readFile(path, 'utf8')) as {pid: number; start: string}
    if (start !== '' && processStart(pid) === start) process.kill(-pid, 'SIGKILL')
  } catch {
    // There was no command, or it has ended.
  }
}

const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

const unusable = (path: string, reason: string) => new SvcError('remote_file_unusable', {path, reason})

/**
 * Writes the input files of a task, and checks the paths of its output files.
 * @throws remote_file_unusable, path_denied; MeshHttpError; the reason of the signal
 */
export async function fetchFiles(root: string, files: Files, blobs: Blobs, signal: AbortSignal): Promise<void> {
  const total = files.reduce((sum, {size = 0}) => sum + size, 0)
  if (total > maxScopeBlobBytes)
    throw unusable(files[0]?.path ?? '', `the files of the task have ${total} bytes, more than ${maxScopeBlobBytes}`)
  for (const {path, sha256} of files) {
    const target = await containedOutput(root, path)
    if (sha256 === undefined) continue
    const bytes = await fetchBlob(path, sha256, blobs, {signal})
    await mkdir(dirname(target), {recursive: true})
    await writeFile(target, bytes)
  }
}

async function fetchBlob(path: string, sha256: string, blobs: Blobs, options: CallOptions & {signal: AbortSignal}) {
  return persist(options.signal, () => blobs.getBlob(sha256, options)).catch((error: unknown) => {
    throw isMissing(error) ? unusable(path, 'the control plane does not have its content') : error
  })
}

/**
 * Uploads the output files of a task that were created or changed, and lists those that were deleted. Other files are
 * ignored.
 * @throws remote_file_unusable; MeshHttpError; the reason of the signal
 */
export async function collectFiles(
  root: string,
  files: Files,
  blobs: Blobs,
  signal: AbortSignal,
): Promise<WrittenFile[]> {
  const before = new Map(files.map(({path, sha256}) => [path, sha256]))
  const writable = new Set(files.flatMap(({path, access}) => (access === 'write' ? [path] : [])))
  const written: WrittenFile[] = []
  for (const path of writable) {
    const bytes = await readOutput(root, path)
    const sha256 = bytes && sha256Of(bytes)
    if (sha256 === before.get(path)) continue
    if (bytes === undefined || sha256 === undefined) written.push({path})
    else {
      await persist(signal, () => blobs.putBlob(bytes, {signal}))
      written.push({path, sha256, size: bytes.length})
    }
  }
  return written
}

/** Reads a file without following symbolic links, which a command could point to files outside the root. */
async function readOutput(root: string, path: string): Promise<Buffer | undefined> {
  const target = join(root, path)
  const entry = await lstat(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  if (entry === undefined) return undefined
  if (!entry.isFile()) throw unusable(path, 'it is not a regular file')
  if ((await realpath(target)) !== target) throw unusable(path, 'its path contains a symbolic link')
  if (entry.size > maxBlobBytes) throw unusable(path, `it has ${entry.size} bytes, more than ${maxBlobBytes}`)
  const file = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return await file.readFile()
  } finally {
    await file.close()
  }
}
