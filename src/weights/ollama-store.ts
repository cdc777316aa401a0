import {existsSync} from 'node:fs'
import {readdir, readFile, stat} from 'node:fs/promises'
import {homedir} from 'node:os'
import {join} from 'node:path'
import {isObject} from '../contracts/index.js'
import {nearest, SvcError} from '../errors/index.js'
import {readJsonObject} from './json-file.js'
import {
  areMessages,
  type ModelDefaults,
  type ModelParameters,
  modelParameters,
  parameterFault,
} from './model-defaults.js'

/** Start of the name of a model in Ollama's store, as in `ollama:llama3.2:1b`. */
const prefix = 'ollama:'

/** Folder of Ollama's models. */
export const ollamaFolder = (env: Readonly<Record<string, string | undefined>>): string =>
  env.OLLAMA_MODELS || join(homedir(), '.ollama', 'models')

export const isOllamaName = (name: string): boolean => name.startsWith(prefix)

/** A model that Ollama has downloaded or created. */
export interface OllamaModel {
  /** Its name in Ollama, such as `llama3.2:1b`; without the tag `latest`. */
  name: string
  /** The GGUF file. */
  path: string
  defaults: ModelDefaults
}

/** A model of the store, before its parts are read. */
export interface ListedOllamaModel extends Pick<OllamaModel, 'name'> {
  /** The name that `--model` accepts. */
  model: string
  /** The GGUF file. */
  path: string
  bytes: number
  modifiedMs: number
}

interface Layer {
  mediaType: string
  digest: string
  size: number
}

/** Kinds of layers without which a model computes something else; the other unknown ones are texts. */
const unsupported: Readonly<Record<string, string>> = {
  adapter: 'an adapter of Ollama',
  tensor: 'single tensors instead of a GGUF file',
}

const registry = 'registry.ollama.ai'
const owner = 'library'
const defaultTag = 'latest'

/**
 * The models of Ollama's store that are GGUF files, in the order of their names. Reads manifests only.
 * @param folder see `ollamaFolder`; it may be missing
 */
export async function listOllamaModels(folder: string): Promise<ListedOllamaModel[]> {
  const root = join(folder, 'manifests')
  const entries = await readdir(root, {recursive: true, withFileTypes: true}).catch(() => [])
  const models: ListedOllamaModel[] = []
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const parts = file.slice(root.length + 1).split(/[\\/]/)
    // A file of another program is not a model.
    const layers = await readLayers(file).catch(() => [])
    const weights = layers.find(({mediaType}) => kindOf(mediaType) === 'model')
    if (parts.length !== 4 || weights === undefined) continue
    const name = nameOf(parts)
    models.push({
      name,
      model: `${prefix}${name}`,
      path: blobOf(folder, weights.digest),
      bytes: layers.reduce((sum, {size}) => sum + size, 0),
      modifiedMs: Math.round((await stat(file)).mtimeMs),
    })
  }
  return models.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * Reads a model of Ollama's store. Its template is not read: the GGUF file has one for Jinja.
 * @param model its name, with `ollama:`
 * @throws model_not_found, model_file_missing, model_file_invalid, model_format_unsupported
 */
export async function readOllamaModel(model: string, folder: string): Promise<OllamaModel> {
  const parts = placeOf(model.slice(prefix.length))
  const file = join(folder, 'manifests', ...parts)
  if (parts.some((part) => !/^[\w.-]+$/.test(part) || /^\.+$/.test(part)) || !existsSync(file))
    throw new SvcError('model_not_found', {model, tried: [file], suggestion: await similarOllamaModel(model, folder)})
  const layers = await readLayers(file)
  for (const {mediaType} of layers) {
    const found = unsupported[kindOf(mediaType)]
    if (found !== undefined)
      throw new SvcError('model_format_unsupported', {path: file, missing: 'a GGUF file alone', found})
  }
  const blobs = new Map(layers.map(({mediaType, digest}) => [kindOf(mediaType), blobOf(folder, digest)]))
  const path = blobs.get('model')
  if (path === undefined || !existsSync(path))
    throw new SvcError('model_file_missing', {file: 'the GGUF file', tried: [path ?? file]})
  return {name: nameOf(parts), path, defaults: await readDefaults(blobs)}
}

/**
 * The model of the store that a name probably means: one with this name and any tag or, for a name with `ollama:`, the nearest.
 */
export async function similarOllamaModel(name: string, folder: string): Promise<string | undefined> {
  const models = (await listOllamaModels(folder)).map(({model}) => model)
  const wanted = isOllamaName(name) ? name : `${prefix}${name}`
  const found = models.find((model) => model === wanted || model.startsWith(`${wanted}:`))
  return found ?? (isOllamaName(name) ? nearest(name, models) : undefined)
}

async function readDefaults(blobs: ReadonlyMap<string, string>): Promise<ModelDefaults> {
  const texts: Record<string, string> = {}
  for (const kind of ['system', 'license'] as const) {
    const blob = blobs.get(kind)
    if (blob !== undefined) texts[kind] = (await readFile(blob, 'utf8').catch(unreadable)).trim()
  }
  const messages = await readJson(blobs.get('messages'))
  const {stop, parameters} = await readParameters(blobs.get('params'))
  return {
    ...texts,
    ...(stop === undefined ? {} : {stop}),
    ...(areMessages(messages) ? {messages} : {}),
    parameters,
  }
}

/** The sampling parameters, without those that only set how Ollama runs a model. @throws model_file_invalid */
async function readParameters(file: string | undefined): Promise<{stop?: string[]; parameters: ModelParameters}> {
  if (file === undefined) return {parameters: {}}
  const {stop, ...others} = await readJsonObject(file)
  const known = Object.entries(others).filter(([name]) => Object.hasOwn(modelParameters, name))
  for (const [name, value] of known) {
    const reason = parameterFault(name, value)
    if (reason !== undefined) throw new SvcError('model_file_invalid', {file, reason})
  }
  const stops = [stop].flat().filter((text) => typeof text === 'string')
  return {...(stops.length === 0 ? {} : {stop: stops}), parameters: Object.fromEntries(known)}
}

async function readJson(file: string | undefined): Promise<unknown> {
  if (file === undefined) return undefined
  const text = await readFile(file, 'utf8').catch(unreadable)
  try {
    return JSON.parse(text)
  } catch {
    throw new SvcError('model_file_invalid', {file, reason: 'it is not JSON'})
  }
}

const unreadable = (error: unknown): never => {
  throw SvcError.from(error)
}

async function readLayers(file: string): Promise<Layer[]> {
  const {layers} = await readJsonObject(file)
  if (!Array.isArray(layers) || !layers.every(isLayer))
    throw new SvcError('model_file_invalid', {file, reason: 'it has no list of layers'})
  return layers
}

const isLayer = (value: unknown): value is Layer =>
  isObject(value) &&
  typeof value.mediaType === 'string' &&
  /^sha256:[0-9a-f]{64}$/.test(String(value.digest)) &&
  Number.isSafeInteger(value.size)

/** Last part of a media type: `model`, `params`, `system`, … */
const kindOf = (mediaType: string): string => /^application\/vnd\.ollama\.image\.(\w+)/.exec(mediaType)?.[1] ?? ''

const blobOf = (folder: string, digest: string): string => join(folder, 'blobs', digest.replace(':', '-'))

/** Host, owner, model and tag. */
function placeOf(name: string): [string, string, string, string] {
  const slash = name.lastIndexOf('/')
  const [model = '', tag = defaultTag] = name.slice(slash + 1).split(':')
  const [namespace = owner, ...host] = slash < 0 ? [] : name.slice(0, slash).split('/').reverse()
  return [host.length === 0 ? registry : host.reverse().join('/'), namespace, model, tag]
}

function nameOf([host = '', namespace = '', model = '', tag = '']: readonly string[]): string {
  const before = host !== registry ? [host, namespace] : namespace !== owner ? [namespace] : []
  return [...before, tag === defaultTag ? model : `${model}:${tag}`].join('/')
}
