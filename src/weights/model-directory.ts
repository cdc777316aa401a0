import {existsSync} from 'node:fs'
import {readdir, readFile, realpath, stat} from 'node:fs/promises'
import {homedir} from 'node:os'
import {basename, dirname, join, resolve, sep} from 'node:path'
import {SvcError} from '../errors/index.js'
import {readJsonObject} from './json-file.js'
import {readSafetensorsHeader, type TensorEntry} from './safetensors.js'

/** A directory that holds a trained model in Hugging Face layout, found and checked; weights are not read yet. */
export interface ModelDirectory {
  /** Last component of the path as it was given: the name the model goes by. */
  name: string
  path: string
  config: string
  tokenizer: string
  /** Files that a model may lack. */
  tokenizerConfig?: string
  generationConfig?: string
  chatTemplate?: string
  /** Every tensor of every shard, by name. */
  tensors: ReadonlyMap<string, TensorEntry>
}

export interface ModelLookup {
  cwd: string
  env: Readonly<Record<string, string | undefined>>
}

const adapterFiles = ['candle_qlora_adapter.safetensors', 'adapter_model.safetensors']

/**
 * Finds a model: a directory, or the id `owner/name` of one in the local Hugging Face cache. Never uses the network.
 * @throws model_not_found and model_file_missing with every place tried; adapter_unsupported, shard_missing,
 *   safetensors_invalid, model_file_invalid
 */
export async function openModelDirectory(
  model: string,
  lookup: ModelLookup = {cwd: process.cwd(), env: process.env},
): Promise<ModelDirectory> {
  const path = await locate(model, lookup)
  const adapter = adapterFiles.find((file) => existsSync(join(path, file)))
  if (adapter !== undefined) throw new SvcError('adapter_unsupported', {file: join(path, adapter)})
  const optional = (key: 'tokenizerConfig' | 'generationConfig' | 'chatTemplate', file: string) =>
    existsSync(join(path, file)) ? {[key]: join(path, file)} : {}
  return {
    name: basename(resolve(lookup.cwd, model)),
    path,
    config: required(path, 'config.json'),
    tokenizer: required(path, 'tokenizer.json'),
    ...optional('tokenizerConfig', 'tokenizer_config.json'),
    ...optional('generationConfig', 'generation_config.json'),
    ...optional('chatTemplate', 'chat_template.jinja'),
    tensors: await readShards(path),
  }
}

async function locate(model: string, {cwd, env}: ModelLookup): Promise<string> {
  const given = resolve(cwd, model)
  if (await isDirectory(given)) return given
  const tried = [given]
  if (/^\w[\w.-]*\/[\w.-]+$/.test(model)) {
    const snapshot = await cachedSnapshot(model, env)
    if (await isDirectory(snapshot)) return snapshot
    tried.push(snapshot)
  }
  throw new SvcError('model_not_found', {model, tried})
}

/** The snapshot that `main` of a hub repository points to, where `huggingface_hub` keeps it. */
async function cachedSnapshot(id: string, env: ModelLookup['env']): Promise<string> {
  const home = env.HF_HOME || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface')
  const hub = env.HF_HUB_CACHE || join(home, 'hub')
  const repository = join(hub, `models--${id.replace('/', '--')}`)
  const revision = await readFile(join(repository, 'refs', 'main'), 'utf8').catch(() => 'main')
  return join(repository, 'snapshots', revision.trim())
}

const isDirectory = (path: string) =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

function required(path: string, file: string): string {
  const place = join(path, file)
  if (!existsSync(place)) throw new SvcError('model_file_missing', {file, tried: [place]})
  return place
}

async function readShards(path: string): Promise<ReadonlyMap<string, TensorEntry>> {
  const index = join(path, 'model.safetensors.index.json')
  if (existsSync(index)) return readIndexed(path, index)
  const tensors = new Map<string, TensorEntry>()
  for (const file of await unindexedShards(path))
    for (const entry of await readSafetensorsHeader(await realpath(file)))
      if (!tensors.has(entry.name)) tensors.set(entry.name, entry)
  return tensors
}

/** The index says which shard holds which tensor, and is believed. */
async function readIndexed(path: string, index: string): Promise<ReadonlyMap<string, TensorEntry>> {
  const {weight_map: map} = await readJsonObject(index)
  if (typeof map !== 'object' || map === null) throw invalidIndex(index, 'it has no weight_map')
  const shards = new Map<string, ReadonlyMap<string, TensorEntry>>()
  const tensors = new Map<string, TensorEntry>()
  for (const [tensor, shard] of Object.entries(map)) {
    if (typeof shard !== 'string' || basename(shard) !== shard || shard === '..')
      throw invalidIndex(index, `the shard of ${tensor} must be a file name, not ${JSON.stringify(shard)}`)
    let entries = shards.get(shard)
    if (entries === undefined) {
      entries = await readIndexedShard(path, shard, index)
      shards.set(shard, entries)
    }
    const entry = entries.get(tensor)
    if (entry === undefined) throw new SvcError('tensor_missing', {tensor, files: [shard]})
    tensors.set(tensor, entry)
  }
  return tensors
}

async function readIndexedShard(path: string, shard: string, index: string) {
  const file = join(path, shard)
  if (!existsSync(file)) throw new SvcError('shard_missing', {shard, index})
  const entries = await readSafetensorsHeader(await realpath(file))
  return new Map(entries.map((entry) => [entry.name, entry]))
}

const invalidIndex = (file: string, reason: string) => new SvcError('model_file_invalid', {file, reason})

const numbered = /^model-(\d+)-of-(\d+)\.safetensors$/

/** `model.safetensors`, or every file of a numbered set in order. */
async function unindexedShards(path: string): Promise<string[]> {
  const single = join(path, 'model.safetensors')
  if (existsSync(single)) return [single]
  const names = (await readdir(path)).filter((name) => numbered.test(name)).sort()
  const [first] = names
  if (first === undefined)
    throw new SvcError('model_file_missing', {
      file: 'weights',
      tried: ['model.safetensors.index.json', 'model.safetensors', 'model-*-of-*.safetensors'].map((f) =>
        join(path, f),
      ),
    })
  const [, digits = '', count = ''] = numbered.exec(first) ?? []
  for (let i = 1; i <= Number(count); i++) {
    const shard = `model-${String(i).padStart(digits.length, '0')}-of-${count}.safetensors`
    if (!names.includes(shard)) throw new SvcError('shard_missing', {shard, index: `the numbering of ${first}`})
  }
  return names.map((name) => join(path, name))
}

/** The deepest folder that holds all the given files. */
export function commonFolder(files: readonly string[]): string {
  const paths = files.map((file) => dirname(file).split(sep))
  const [first = []] = paths
  const depth = first.findIndex((part, i) => paths.some((path) => path[i] !== part))
  return (depth === -1 ? first : first.slice(0, depth)).join(sep) || sep
}
