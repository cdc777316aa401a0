import {existsSync} from 'node:fs'
import {readdir, readFile, rm} from 'node:fs/promises'
import {homedir} from 'node:os'
import {basename, join, sep} from 'node:path'
import {isCompleteSpeechModel} from './speech-files.js'

type Env = Readonly<Record<string, string | undefined>>

/** Cache folder of downloaded models, shared with the Hugging Face tools. */
export function hubCacheFolder(env: Env): string {
  if (env.SVC_SPEECH_CACHE_DIR) return env.SVC_SPEECH_CACHE_DIR
  if (env.HF_HUB_CACHE) return env.HF_HUB_CACHE
  return join(env.HF_HOME || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface'), 'hub')
}

/** Whether a string is a valid model id: `owner/name` or `name`. */
export const isModelId = (id: string): boolean =>
  /^\w[\w.-]{0,95}(\/\w[\w.-]{0,95})?$/.test(id) && !id.includes('..') && !id.includes('--')

/** Whether a string is a valid branch, tag or commit name. */
export const isRevision = (revision: string): boolean =>
  /^\w[\w./-]{0,254}$/.test(revision) &&
  !revision.split('/').some((part) => part === '' || part === '..' || part === '.')

/** Cache folder of a model, with `blobs`, `snapshots/COMMIT` and `refs/REVISION`. */
export const repositoryFolder = (id: string, cacheFolder: string): string =>
  join(cacheFolder, `models--${id.replace('/', '--')}`)

/** Held while files of a model are downloaded or deleted. */
export const repositoryLock = (id: string, cacheFolder: string): string =>
  join(cacheFolder, '.locks', `${basename(repositoryFolder(id, cacheFolder))}.lock`)

/** Where a snapshot is created before it gets its name, and moved before it is deleted. */
export const temporarySnapshot = (folder: string): string => `${folder}.${process.pid}${temporarySuffix}`

const temporarySuffix = '.new'

/** Deletes what processes that were killed have left over. The lock of the repository must be held. */
export async function removeLeftovers(snapshots: string): Promise<void> {
  const names = await readdir(snapshots).catch(() => [])
  for (const name of names)
    if (name.endsWith(temporarySuffix)) await rm(join(snapshots, name), {recursive: true, force: true})
}

/** The complete snapshots of a repository: commits. */
export const snapshotsOf = async (repository: string): Promise<string[]> =>
  (await readdir(join(repository, 'snapshots')).catch(() => [])).filter((name) => !name.endsWith(temporarySuffix))

/** Snapshot folder of a model at a revision, which may not exist; undefined for an invalid id. */
export async function snapshotPlace(id: string, revision: string, cacheFolder: string): Promise<string | undefined> {
  if (!isModelId(id) || !isRevision(revision)) return undefined
  const repository = repositoryFolder(id, cacheFolder)
  const commit = await readFile(join(repository, 'refs', revision), 'utf8').catch(() => revision)
  return isRevision(commit.trim()) ? join(repository, 'snapshots', commit.trim()) : undefined
}

/** The ids of the models in a cache folder, complete or not. */
export async function cachedModels(cacheFolder: string): Promise<string[]> {
  const names = await readdir(cacheFolder).catch(() => [])
  return names.filter((name) => name.startsWith('models--')).map((name) => name.slice(8).replace('--', '/'))
}

/**
 * Snapshot folder of a completely downloaded speech model; undefined if files are missing. Other tools share the cache and
 * download single files, so a snapshot may be incomplete or contain dangling links.
 */
export async function cachedSnapshot(id: string, revision: string, cacheFolder: string): Promise<string | undefined> {
  const snapshot = await snapshotPlace(id, revision, cacheFolder)
  return snapshot !== undefined && isCompleteSpeechModel(await filesIn(snapshot)) ? snapshot : undefined
}

/** Relative paths in a folder, with `/`; dangling links are excluded. */
export async function filesIn(folder: string): Promise<string[]> {
  const paths = await readdir(folder, {recursive: true}).catch(() => [])
  return paths.filter((path) => existsSync(join(folder, path))).map((path) => path.split(sep).join('/'))
}
