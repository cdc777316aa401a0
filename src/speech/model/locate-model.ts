import {existsSync} from 'node:fs'
import {basename, join, resolve} from 'node:path'
import {defaultSpeechModel} from '../../config/index.js'
import {SvcError} from '../../errors/index.js'
import {
  cachedSnapshot,
  isModelId,
  oneFile,
  type PullOptions,
  parseModelName,
  pullModel,
  snapshotPlace,
  speechModelFiles,
} from '../../weights/index.js'

/** Locations of the models on this machine. */
export interface FindOptions {
  revision: string
  /** Base directory of relative paths. */
  cwd: string
  cacheFolder: string
  /** Directory of the included starter model. */
  starterFolder: string
}

export interface LocateOptions extends Omit<PullOptions, 'select'>, FindOptions {
  /** Called before a download starts. */
  onDownload?: ((id: string) => void) | undefined
}

export interface LocatedModel {
  /** Name that the user specified. */
  name: string
  path: string
  /** True if no model is configured or cached, and the starter model is used instead. */
  isFallback: boolean
}

/** Name of the starter model. */
const starterName = 'starter'

/** Short names of Whisper models, such as `base.en` or `distil-small.en`. */
const sizes = /^(?:whisper-)?(tiny|base|small|medium)(\.en)?$|^(?:whisper-)?(large(?:-v[123](?:-turbo)?)?|turbo)$/

/** Returns the hub id of a short name; any other name is returned unchanged. */
export function speechModelId(name: string): string {
  if (/^distil-(small\.en|medium\.en|large-v[23]|large-v3\.5)$/.test(name)) return `distil-whisper/${name}`
  if (!sizes.test(name)) return name
  const size = name.replace(/^whisper-/, '')
  return `openai/whisper-${size === 'turbo' ? 'large-v3-turbo' : size}`
}

/**
 * Finds a speech model on this machine: a path, or a model in the cache. Without a name, it is the default model if
 * that is cached, otherwise the starter model.
 */
export async function findSpeechModel(
  named: string | undefined,
  {cwd, revision, cacheFolder, starterFolder}: FindOptions,
): Promise<LocatedModel | undefined> {
  const given = named === undefined ? undefined : resolve(cwd, named)
  if (given !== undefined && existsSync(given)) return {name: basename(given), path: given, isFallback: false}
  const {file, ...model} = parseModelName(named ?? defaultSpeechModel)
  const id = speechModelId(model.id)
  const path =
    file === undefined
      ? await cachedSnapshot(id, model.revision ?? revision, cacheFolder)
      : await cachedFile(id, file, model.revision ?? revision, cacheFolder)
  if (path !== undefined) return {name: named === undefined ? id : withId(named, id), path, isFallback: false}
  const wanted = named === undefined || named === starterName
  if (!wanted || !existsSync(starterFolder)) return undefined
  return {name: starterName, path: starterFolder, isFallback: named === undefined}
}

/** A name with the id instead of a short name. */
const withId = (named: string, id: string) => `${id}${named.slice(parseModelName(named).id.length)}`

/** A file of a snapshot; undefined if it is not there. */
async function cachedFile(id: string, file: string, revision: string, cacheFolder: string) {
  const snapshot = await snapshotPlace(id, revision, cacheFolder)
  if (snapshot === undefined || file.split('/').includes('..')) return undefined
  const path = join(snapshot, file)
  return existsSync(path) ? path : undefined
}

/**
 * Locates a speech model by path or hub id; a model of the hub is downloaded if its id was specified and it is not
 * cached. Without a name nothing is downloaded: the default model is used if it is cached, otherwise the starter model.
 * @throws speech_model_missing, model_not_found; what `pullModel` throws
 */
export async function locateSpeechModel(named: string | undefined, options: LocateOptions): Promise<LocatedModel> {
  const {cwd, offline} = options
  const found = await findSpeechModel(named, options)
  if (found !== undefined) return found
  if (named === undefined) throw new SvcError('speech_model_missing', {})
  const given = resolve(cwd, named)
  const {file, ...model} = parseModelName(named)
  const id = speechModelId(model.id)
  if (looksLikePath(model.id) || !id.includes('/') || !isModelId(id))
    throw new SvcError('model_not_found', {model: named, tried: [given]})
  if (!offline) options.onDownload?.(id)
  const select = file === undefined ? speechModelFiles : oneFile(id, file)
  const {folder} = await pullModel(id, model.revision ?? options.revision, {...options, select})
  return {name: withId(named, id), path: join(folder, file ?? ''), isFallback: false}
}

/** True for names that can only be paths: they start with a directory, or end with a file extension. */
const looksLikePath = (name: string) => /^[./~\\]|\\|\.(bin|onnx|safetensors)$/.test(name) || name.split('/').length > 2
