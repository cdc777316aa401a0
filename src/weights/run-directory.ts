import {existsSync} from 'node:fs'
import {readdir} from 'node:fs/promises'
import {basename, dirname, join, resolve} from 'node:path'
import {SvcError} from '../errors/index.js'
import {isFolder} from '../files/index.js'
import {
  type Adapter,
  type AdapterManifest,
  findAdapterWeights,
  headName,
  isHead,
  readAdapter,
  readAdapterManifest,
} from './adapter.js'
import {foreignWeights, ggufError, tokenizerMissing, weightsMissing} from './foreign-format.js'
import {readPromptFormat} from './handoff-file.js'
import {hubCacheFolder, snapshotPlace} from './hub/cache-layout.js'
import {readJsonObject} from './json-file.js'
import {hasShards, readShards, readTensorMap, shardPlaces, type TensorMap} from './shards.js'

/**
 * A directory that a training run left behind, or a plain model directory in Hugging Face layout: found and checked;
 * weights are not read yet.
 */
export interface RunDirectory {
  /** Last component of the path as it was given: the name the model goes by. */
  name: string
  path: string
  /** Where the base model's weights are; the same as `path` where they lie in the directory itself. */
  basePath: string
  config: string
  tokenizer: string
  /** Files that a model may lack. */
  tokenizerConfig?: string
  generationConfig?: string
  chatTemplate?: string
  license?: string
  /** Every tensor of the model, by name; tensors of `merged.safetensors` replace those of the base. */
  tensors: TensorMap
  /** Whether `merged.safetensors` brings a head of its own, whatever the configuration says of tied embeddings. */
  untied: boolean
  adapter?: Adapter
  /** The base model as the manifest names it. */
  baseModel?: string
  /** How a chat becomes a prompt, as the hand-off file names it. */
  promptFormat?: string
  /** Whether training left this directory behind. A plain model has no manifest, no adapter, no merged weights. */
  trained: boolean
}

export interface RunLookup {
  /** A directory to take the base model from, before any that the manifest names. */
  base?: string | undefined
  /** Serve although the evaluation says that training did damage. */
  ignoreEvalGate?: boolean | undefined
  /** Leave out what training changed: the adapter and `merged.safetensors`. The evaluation does not count then. */
  baseOnly?: boolean | undefined
  cwd?: string
  env?: Readonly<Record<string, string | undefined>>
}

type Surroundings = Required<Pick<RunLookup, 'cwd' | 'env'>>

/**
 * Finds a model: a directory, or the id `owner/name` of one in the local Hugging Face cache. Never uses the network.
 * @throws model_not_found, model_file_missing and base_model_not_found with every place tried; adapter_missing,
 *   adapter_invalid, adapter_unsupported, adapter_tensor_missing, adapter_ambiguous, eval_gate_failed, shard_missing,
 *   safetensors_invalid, model_file_invalid
 */
export async function openRunDirectory(model: string, lookup: RunLookup = {}): Promise<RunDirectory> {
  const {path, basePath, manifest, weights, merged, trained} = await findRun(model, lookup)
  const base = await readShards(basePath)
  const overlay = merged === undefined ? undefined : await readTensorMap(merged)
  const adapter = weights === undefined || manifest === undefined ? undefined : await readAdapter(weights, manifest)
  const find = (file: string) => [path, basePath].map((folder) => join(folder, file)).find((place) => existsSync(place))
  const optional = (key: 'tokenizerConfig' | 'generationConfig' | 'chatTemplate', file: string) => {
    const place = find(file)
    return place === undefined ? {} : {[key]: place}
  }
  const required = (file: string) => {
    const place = find(file)
    if (place !== undefined) return place
    const tried = [...new Set([path, basePath])].map((folder) => join(folder, file))
    throw file === 'tokenizer.json' ? tokenizerMissing(path, tried) : new SvcError('model_file_missing', {file, tried})
  }
  const promptFormat = await readPromptFormat(path)
  const license = (await findLicense(path)) ?? (await findLicense(basePath))
  return {
    name: basename(resolve(lookup.cwd ?? process.cwd(), model)),
    path,
    basePath,
    config: required('config.json'),
    tokenizer: required('tokenizer.json'),
    ...optional('tokenizerConfig', 'tokenizer_config.json'),
    ...optional('generationConfig', 'generation_config.json'),
    ...optional('chatTemplate', 'chat_template.jinja'),
    ...(license === undefined ? {} : {license}),
    tensors: overlay === undefined ? base : new Map([...base, ...overlay]),
    untied: overlay?.has(headName) === true,
    ...(adapter === undefined || isMerged(adapter, overlay) ? {} : {adapter}),
    ...(manifest?.baseModel === undefined ? {} : {baseModel: manifest.baseModel}),
    ...(promptFormat === undefined ? {} : {promptFormat}),
    trained: trained || merged !== undefined,
  }
}

async function findLicense(folder: string): Promise<string | undefined> {
  const name = (await readdir(folder)).sort().find((candidate) => /^licen[cs]e(\.(txt|md))?$/i.test(candidate))
  return name === undefined ? undefined : join(folder, name)
}

/** What lies in a run directory, before any weight is looked at. */
export interface FoundRun {
  path: string
  basePath: string
  manifest: AdapterManifest | undefined
  /** The adapter's weights. */
  weights: string | undefined
  /** Weights that replace those of the base. */
  merged: string | undefined
  trained: boolean
}

/** The parts of a run directory; throws what `openRunDirectory` throws of a directory that lacks one. */
export async function findRun(model: string, lookup: RunLookup = {}): Promise<FoundRun> {
  const around = {cwd: lookup.cwd ?? process.cwd(), env: lookup.env ?? process.env}
  const path = await locate(model, around)
  const manifest = await readAdapterManifest(path)
  if (lookup.baseOnly === true) {
    const basePath = await locateBase(path, manifest?.baseModel, lookup.base, around)
    return {path, basePath, manifest, weights: undefined, merged: undefined, trained: false}
  }
  if (lookup.ignoreEvalGate !== true) await refuseDamaged(path)
  const weights = findAdapterWeights(path)
  const merged = existsSync(join(path, 'merged.safetensors')) ? join(path, 'merged.safetensors') : undefined
  const trained = manifest !== undefined || weights !== undefined || existsSync(join(path, 'training_manifest.json'))
  if (trained && weights === undefined && merged === undefined) throw new SvcError('adapter_missing', {path})
  if (weights !== undefined && manifest === undefined)
    throw new SvcError('adapter_invalid', {file: weights, reason: 'there is no manifest beside it'})
  const basePath = await locateBase(path, manifest?.baseModel, lookup.base, around)
  return {path, basePath, manifest, weights, merged, trained}
}

/**
 * Whether the merged weights hold what the adapter would change: then it must not be applied again.
 * @throws adapter_ambiguous when they hold a part of it
 */
function isMerged({file, deltas}: Adapter, overlay: TensorMap | undefined): boolean {
  if (overlay === undefined) return false
  const left = deltas.find(({target}) => !overlay.has(target) && !(isHead(target) && overlay.has(headName)))
  if (left !== undefined) throw new SvcError('adapter_ambiguous', {adapter: file, tensor: left.target})
  return true
}

async function locate(model: string, around: Surroundings): Promise<string> {
  const given = resolve(around.cwd, model)
  if (await isFolder(given)) return given
  if (given.endsWith('.gguf') && existsSync(given)) throw ggufError(dirname(given), given)
  const snapshot = await snapshotPlace(model, 'main', hubCacheFolder(around.env))
  if (snapshot !== undefined && (await isFolder(snapshot))) return snapshot
  throw new SvcError('model_not_found', {model, tried: [given, snapshot].filter((place) => place !== undefined)})
}

/** The base model: where it was asked for, in the directory itself, or where the manifest points. */
async function locateBase(
  path: string,
  declared: string | undefined,
  asked: string | undefined,
  {cwd, env}: Surroundings,
): Promise<string> {
  if (asked !== undefined) return locate(asked, {cwd, env})
  if (await hasShards(path)) return path
  const places =
    declared === undefined
      ? []
      : [resolve(path, declared), resolve(cwd, declared), await snapshotPlace(declared, 'main', hubCacheFolder(env))]
  const tried = [...new Set(places.filter((place) => place !== undefined))]
  const folders: string[] = []
  for (const place of tried) if (await isFolder(place)) folders.push(place)
  for (const place of folders) if (await hasShards(place)) return place
  for (const place of folders) {
    const error = await foreignWeights(place)
    if (error !== undefined) throw error
  }
  if (declared === undefined) throw await weightsMissing(path, shardPlaces(path))
  throw new SvcError('base_model_not_found', {base: declared, tried: [...shardPlaces(path), ...tried]})
}

/** @throws eval_gate_failed when the evaluation of the run says that it did damage */
async function refuseDamaged(path: string): Promise<void> {
  const report = join(path, 'collateral_damage_report.json')
  if (!existsSync(report)) return
  const {status} = await readJsonObject(report)
  if (status === 'fail') throw new SvcError('eval_gate_failed', {file: report})
}
