import {existsSync} from 'node:fs'
import {basename, resolve} from 'node:path'
import {defaultSpeechModel} from '../config/index.js'
import {SvcError} from '../errors/index.js'
import {cachedSnapshot, isModelId, type PullOptions, pullModel, speechModelFiles} from '../weights/index.js'

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
  const id = named === undefined ? defaultSpeechModel : speechModelId(named)
  const path = await cachedSnapshot(id, revision, cacheFolder)
  if (path !== undefined) return {name: id, path, isFallback: false}
  const wanted = named === undefined || named === starterName
  if (!wanted || !existsSync(starterFolder)) return undefined
  return {name: starterName, path: starterFolder, isFallback: named === undefined}
}

/**
 * Locates a speech model by path or hub id; a model of the hub is downloaded if its id was specified and it is not
 * cached. Without a name nothing is downloaded: the default model is used if it is cached, otherwise the starter model.
 * @throws speech_model_missing, model_not_found; what `pullModel` throws
 */
export async function locateSpeechModel(named: string | undefined, options: LocateOptions): Promise<LocatedModel> {
  const {cwd, revision, offline} = options
  const found = await findSpeechModel(named, options)
  if (found !== undefined) return found
  if (named === undefined) throw new SvcError('speech_model_missing', {})
  const given = resolve(cwd, named)
  const id = speechModelId(named)
  if (looksLikePath(named) || !id.includes('/') || !isModelId(id))
    throw new SvcError('model_not_found', {model: named, tried: [given]})
  if (!offline) options.onDownload?.(id)
  const {folder} = await pullModel(id, revision, {...options, select: speechModelFiles})
  return {name: id, path: folder, isFallback: false}
}

/** True for names that can only be paths: they start with a directory, or end with a file extension. */
const looksLikePath = (name: string) => /^[./~\\]|\\|\.(bin|onnx|safetensors)$/.test(name) || name.split('/').length > 2
