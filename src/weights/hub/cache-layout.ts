import {existsSync} from 'node:fs'
import {readdir, readFile} from 'node:fs/promises'
import {homedir} from 'node:os'
import {join, sep} from 'node:path'
import {isWholeSpeechModel} from './speech-files.js'

type Env = Readonly<Record<string, string | undefined>>

/** Folder of downloaded models, shared with the other tools of Hugging Face. */
export function hubCacheFolder(env: Env): string {
  if (env.SVC_SPEECH_CACHE_DIR) return env.SVC_SPEECH_CACHE_DIR
  if (env.HF_HUB_CACHE) return env.HF_HUB_CACHE
  return join(env.HF_HOME || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface'), 'hub')
}

/** Whether a name can be that of a model on a hub: `owner/name`, or a name alone. */
export const isModelId = (id: string): boolean =>
  /^\w[\w.-]{0,95}(\/\w[\w.-]{0,95})?$/.test(id) && !id.includes('..') && !id.includes('--')

/** Whether a text can name a branch, tag or commit. */
export const isRevision = (revision: string): boolean =>
  /^\w[\w./-]{0,254}$/.test(revision) &&
  !revision.split('/').some((part) => part === '' || part === '..' || part === '.')

/** Where one model lies in the cache: `blobs`, `snapshots/COMMIT` and `refs/REVISION`. */
export const repositoryFolder = (id: string, cacheFolder: string): string =>
  join(cacheFolder, `models--${id.replace('/', '--')}`)

/** Where the files of a model at a revision lie, or would lie; undefined for what is no id. */
export async function snapshotPlace(id: string, revision: string, cacheFolder: string): Promise<string | undefined> {
  if (!isModelId(id) || !isRevision(revision)) return undefined
  const repository = repositoryFolder(id, cacheFolder)
  const commit = await readFile(join(repository, 'refs', revision), 'utf8').catch(() => revision)
  return isRevision(commit.trim()) ? join(repository, 'snapshots', commit.trim()) : undefined
}

/**
 * The downloaded files of a speech model at a revision; undefined where they are not all there. Other tools share the
 * folder and fetch a model file by file, so that a snapshot may hold a part of it, or links to what was deleted.
 */
export async function cachedSnapshot(id: string, revision: string, cacheFolder: string): Promise<string | undefined> {
  const snapshot = await snapshotPlace(id, revision, cacheFolder)
  return snapshot !== undefined && isWholeSpeechModel(await filesIn(snapshot)) ? snapshot : undefined
}

/** Paths in a folder, with `/`; links to nothing do not count. */
async function filesIn(folder: string): Promise<string[]> {
  const paths = await readdir(folder, {recursive: true}).catch(() => [])
  return paths.filter((path) => existsSync(join(folder, path))).map((path) => path.split(sep).join('/'))
}
