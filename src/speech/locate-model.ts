import {existsSync} from 'node:fs'
import {basename, resolve} from 'node:path'
import {defaultSpeechModel} from '../config/index.js'
import {SvcError} from '../errors/index.js'
import {cachedSnapshot, isModelId, type PullOptions, pullModel, speechModelFiles} from '../weights/index.js'

/** Where models of this machine are looked for. */
export interface FindOptions {
  revision: string
  /** Folder that relative paths begin at. */
  cwd: string
  cacheFolder: string
  /** The small model that comes with the program. */
  starterFolder: string
}

export interface LocateOptions extends Omit<PullOptions, 'select'>, FindOptions {
  /** Called when a download is about to begin. */
  onDownload?: ((id: string) => void) | undefined
}

export interface LocatedModel {
  /** What the user calls it. */
  name: string
  path: string
  /** Whether it is the small model that comes with the program, for want of another. */
  isFallback: boolean
}

/** What the model that comes with the program is called. */
const starterName = 'starter'

/** Short names of the Whispers, such as `base.en` or `distil-small.en`. */
const sizes = /^(?:whisper-)?(tiny|base|small|medium)(\.en)?$|^(?:whisper-)?(large(?:-v[123](?:-turbo)?)?|turbo)$/

/** The id behind a short name; the name itself where it is none. */
export function speechModelId(name: string): string {
  if (/^distil-(small\.en|medium\.en|large-v[23]|large-v3\.5)$/.test(name)) return `distil-whisper/${name}`
  if (!sizes.test(name)) return name
  const size = name.replace(/^whisper-/, '')
  return `openai/whisper-${size === 'turbo' ? 'large-v3-turbo' : size}`
}

/**
 * A speech model that is on this machine: a path, or a model in the cache. Where none is named, the default one if it is
 * in the cache, or else the one that comes with the program.
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
 * Where a speech model lies: a path, or a model of the hub, which is downloaded where it is named and not there. Without
 * a name nothing is downloaded: it is the default model if it is in the cache, or else the one that comes with the
 * program.
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

/** A name that no hub would know: it begins at a folder, or ends as a file does. */
const looksLikePath = (name: string) => /^[./~\\]|\\|\.(bin|onnx|safetensors)$/.test(name) || name.split('/').length > 2
