import {createHash} from 'node:crypto'
import {existsSync} from 'node:fs'
import {copyFile, mkdir, rename, rm, stat, symlink, writeFile} from 'node:fs/promises'
import {dirname, join, relative} from 'node:path'
import {SvcError} from '../../errors/index.js'
import {withLockFile} from '../../files/index.js'
import {
  cachedSnapshot,
  isModelId,
  isRevision,
  removeLeftovers,
  repositoryFolder,
  repositoryLock,
  temporarySnapshot,
} from './cache-layout.js'
import {download} from './download.js'
import type {HubOptions} from './hub-request.js'
import {fileUrl, type HubFile, readRepositoryConfig, readRevision} from './repository.js'

export interface PullProgress {
  file: string
  /** Bytes of all files: received so far, and in total if the hub reports the sizes. */
  receivedBytes: number
  totalBytes: number
  /** `sha256:HEX` or `git-sha1:HEX` of this file, if the hub reports it. */
  digest: string | undefined
  /** Bytes of this file: received so far, and in total if the hub reports it. */
  fileBytes: number
  fileTotal: number | undefined
}

export interface PullOptions extends HubOptions {
  /**
   * Selects the files of the repository to download.
   * @param readConfig reads its `config.json`; empty if it has none
   */
  select: (
    names: readonly string[],
    readConfig: () => Promise<Readonly<Record<string, unknown>>>,
  ) => readonly string[] | Promise<readonly string[]>
  onProgress?: ((progress: PullProgress) => void) | undefined
}

export interface PulledModel {
  id: string
  revision: string
  commit: string
  folder: string
  files: {name: string; bytes: number; cached: boolean}[]
}

/** What a download stores. */
export interface PullPlan {
  id: string
  revision: string
  commit: string
  files: readonly HubFile[]
  /** Size of the files, also of those that exist. */
  bytes: number
}

/**
 * Selects the files of a model, and stores nothing.
 * @throws what `select` throws; model_id_invalid, hub_offline, hub_model_unknown, hub_revision_unknown, hub_files_missing, hub_access_denied,
 *   hub_unreachable, hub_failed, hub_answer_invalid; the reason of the signal
 */
export async function planPull(id: string, revision: string, options: PullOptions): Promise<PullPlan> {
  requireNames(id, revision)
  if (options.offline) throw offlineError(id, options)
  const {commit, files} = await readRevision(id, revision, options)
  const readConfig = () => readRepositoryConfig(id, commit, files, options)
  const names = files.map(({name}) => name)
  const selected = new Set(await options.select(names, readConfig))
  if (selected.size === 0) throw new SvcError('hub_files_missing', {id})
  const wanted = files.filter(({name}) => selected.has(name))
  return {id, revision, commit, files: wanted, bytes: wanted.reduce((sum, {size}) => sum + (size ?? 0), 0)}
}

/**
 * Downloads a model to the cache, in the Hugging Face layout: `blobs` by checksum, `snapshots/COMMIT` with links to them,
 * `refs/REVISION`. Existing files are not downloaded again; the snapshot appears when all its files are present.
 * @throws what `planPull` and `pullPlanned` throw
 */
export async function pullModel(id: string, revision: string, options: PullOptions): Promise<PulledModel> {
  requireNames(id, revision)
  if (options.offline) return offline(id, revision, options)
  return pullPlanned(await planPull(id, revision, options), options)
}

/**
 * Downloads what was planned, as `pullModel` does.
 * @throws hub_access_denied, hub_unreachable, hub_failed, checksum_mismatch, disk_full, cache_unwritable; the reason of the
 *   signal
 */
export async function pullPlanned(
  {id, revision, commit, files}: PullPlan,
  options: Omit<PullOptions, 'select'>,
): Promise<PulledModel> {
  const repository = repositoryFolder(id, options.cacheFolder)
  try {
    return await withLockFile(repositoryLock(id, options.cacheFolder), options.signal, async () => {
      await removeLeftovers(join(repository, 'snapshots'))
      const blobs = await downloadAll({id, commit, repository}, files, options)
      const folder = join(repository, 'snapshots', commit)
      await linkSnapshot(folder, blobs)
      if (revision !== commit) await writeReference(join(repository, 'refs', revision), commit)
      return {id, revision, commit, folder, files: blobs.map(({name, bytes, cached}) => ({name, bytes, cached}))}
    })
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException
    if (!['EACCES', 'EROFS', 'EPERM', 'EDQUOT'].includes(code ?? '')) throw error
    const reason = (error as Error).message.replace(/\.$/, '')
    throw new SvcError('cache_unwritable', {folder: options.cacheFolder, reason}, {cause: error})
  }
}

/** @throws model_id_invalid, hub_revision_unknown */
function requireNames(id: string, revision: string): void {
  if (!isModelId(id)) throw new SvcError('model_id_invalid', {id})
  if (!isRevision(revision)) throw new SvcError('hub_revision_unknown', {id, revision})
}

const offlineError = (id: string, {offlineBy = ['--offline']}: PullOptions) =>
  new SvcError('hub_offline', {id, by: offlineBy})

async function offline(id: string, revision: string, options: PullOptions): Promise<PulledModel> {
  const folder = await cachedSnapshot(id, revision, options.cacheFolder)
  if (folder === undefined) throw offlineError(id, options)
  return {id, revision, commit: folder.split(/[\\/]/).at(-1) ?? '', folder, files: []}
}

interface Blob {
  name: string
  path: string
  bytes: number
  cached: boolean
}

async function downloadAll(
  {id, commit, repository}: {id: string; commit: string; repository: string},
  files: readonly HubFile[],
  options: Omit<PullOptions, 'select'>,
): Promise<Blob[]> {
  const received = new Map<string, number>()
  const totalBytes = files.reduce((sum, {size}) => sum + (size ?? 0), 0)
  const blobs: Blob[] = []
  for (const file of files) {
    const path = join(repository, 'blobs', file.checksum?.hex ?? nameOf(commit, file))
    const url = fileUrl(id, commit, file.name, options)
    const digest = file.checksum && `${file.checksum.algorithm}:${file.checksum.hex}`
    const onBytes = (bytes: number) => {
      received.set(file.name, bytes)
      const receivedBytes = [...received.values()].reduce((sum, value) => sum + value, 0)
      options.onProgress?.({file: file.name, receivedBytes, totalBytes, digest, fileBytes: bytes, fileTotal: file.size})
    }
    const fetched = await download({id, url, file, path, onBytes}, options)
    blobs.push({name: file.name, path, bytes: (await stat(path)).size, cached: !fetched})
  }
  return blobs
}

/** Blob name of a file without a checksum. */
const nameOf = (commit: string, {name}: HubFile) => createHash('sha256').update(`${commit}/${name}`).digest('hex')

/** Creates the links of a snapshot; a new folder is renamed to its final name when it is complete. */
async function linkSnapshot(folder: string, blobs: readonly Blob[]): Promise<void> {
  const missing = blobs.filter(({name}) => !existsSync(join(folder, name)))
  if (missing.length === 0) return
  const fresh = !existsSync(folder)
  const target = fresh ? temporarySnapshot(folder) : folder
  try {
    for (const {name, path} of missing) await link(path, join(target, name), join(folder, name))
    if (fresh) await rename(target, folder)
  } finally {
    if (fresh) await rm(target, {recursive: true, force: true})
  }
}

/** Creates a relative link that is valid from `final`; a copy if the system does not support links. */
async function link(blob: string, place: string, final: string): Promise<void> {
  await mkdir(dirname(place), {recursive: true})
  // There may be a dangling link.
  await rm(place, {force: true})
  await symlink(relative(dirname(final), blob), place).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return
    if (error.code !== 'EPERM' && error.code !== 'ENOSYS') throw error
    await copyFile(blob, place)
  })
}

async function writeReference(path: string, commit: string): Promise<void> {
  await mkdir(dirname(path), {recursive: true})
  const partial = `${path}.${process.pid}.new`
  await writeFile(partial, commit)
  await rename(partial, path)
}
