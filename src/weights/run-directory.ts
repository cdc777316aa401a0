import {existsSync} from 'node:fs'
import {readdir} from 'node:fs/promises'
import {basename, join, resolve} from 'node:path'
import {SvcError} from '../errors/index.js'
import {holdOpenFor, isFolder} from '../files/index.js'
import {
  type Adapter,
  type AdapterManifest,
  findAdapterWeights,
  headName,
  isHead,
  type LoraDelta,
  readAdapter,
  readAdapterManifest,
} from './adapter.js'
import {type Declarations, generationFile, mergedDeclarations, readDeclarations, readFolder} from './declarations.js'
import {foreignWeights, tokenizerMissing, weightsMissing} from './foreign-format.js'
import {placeInFused} from './fused.js'
import {ggufModelName, ggufModels, isGgufName, readGguf} from './gguf/gguf-file.js'
import {readPromptFormat} from './handoff-file.js'
import {hubCacheFolder, snapshotPlace} from './hub/cache-layout.js'
import {defaultRevision, parseModelName} from './hub/model-name.js'
import {readJsonObject} from './json-file.js'
import {
  defaultsFile,
  generationParameters,
  type ModelDefaults,
  type ModelFile,
  mergeDefaults,
  readModelFile,
} from './model-defaults.js'
import {isOllamaName, ollamaFolder, readOllamaModel, similarOllamaModel} from './ollama-store.js'
import {hasShards, readShards, readTensorMap, shardPlaces, type TensorMap} from './shards.js'

/**
 * The output directory of a training run, a plain model directory in Hugging Face layout, or a GGUF file. Headers are
 * validated; weights are not read yet.
 */
export interface RunDirectory {
  /** Model name: the last component of the path in the request. */
  name: string
  /** The directory, or the GGUF file. */
  path: string
  /** Folder or GGUF file of the base model's weights; same as `path` if the directory contains them. */
  basePath: string
  /** The file with the configuration. */
  config: string
  /** @throws model_file_invalid, lfs_pointer */
  readConfig(): Promise<Readonly<Record<string, unknown>>>
  /** The file with the tokenizer. */
  tokenizer: string
  /** Reads the tokenizer in the layout of `tokenizer.json`. @throws model_file_invalid, lfs_pointer */
  readTokenizer(): Promise<Readonly<Record<string, unknown>>>
  /** What its other files say about text and generation. */
  declarations: Declarations
  /** How the model is used unless a request says otherwise. */
  defaults: ModelDefaults
  /** The licence file. */
  license?: string
  /** Name of the licence in a GGUF file. */
  licenseName?: string
  /** Every tensor of the model, by name; tensors of `merged.safetensors` replace those of the base. */
  tensors: TensorMap
  /** Whether `merged.safetensors` contains a separate head, which overrides tied embeddings in the configuration. */
  untied: boolean
  adapter?: Adapter
  /** Base model in the manifest. */
  baseModel?: string
  /** Prompt format in the hand-off file. */
  promptFormat?: string
  /** Whether the directory is the result of a training run: a plain model has no manifest, adapter or merged weights. */
  trained: boolean
}

export interface RunLookup {
  /** Directory of the base model; takes precedence over the one in the manifest. */
  base?: string | undefined
  /** Accept a run whose evaluation failed. */
  ignoreEvalGate?: boolean | undefined
  /** Ignore the adapter and `merged.safetensors`; the evaluation is then not checked. */
  baseOnly?: boolean | undefined
  /** Unknown keys of `config.json` and of the adapter's configuration that may be present. */
  ignoreConfigKeys?: readonly string[] | undefined
  /** Folder of downloaded models. Default: that of the environment. */
  cacheFolder?: string | undefined
  cwd?: string
  env?: Readonly<Record<string, string | undefined>>
}

interface Surroundings {
  cwd: string
  cacheFolder: string
  /** Of Ollama. */
  ollama: string
}

const surroundings = ({cwd = process.cwd(), env = process.env, cacheFolder}: RunLookup): Surroundings => ({
  cwd,
  cacheFolder: cacheFolder ?? hubCacheFolder(env),
  ollama: ollamaFolder(env),
})

/**
 * Finds a model: a directory, a GGUF file, the id `owner/name` of a model in the local Hugging Face cache, or `ollama:NAME`
 * for one in Ollama's store. Never uses the network.
 * @throws model_not_found, model_file_missing and base_model_not_found with every path tried; adapter_missing,
 *   adapter_invalid, adapter_unsupported, adapter_tensor_missing, adapter_ambiguous, eval_gate_failed, shard_missing,
 *   safetensors_invalid, model_file_invalid, gguf_several; what `readGguf` throws
 */
export async function openRunDirectory(model: string, lookup: RunLookup = {}): Promise<RunDirectory> {
  const {name, path, basePath, manifest, weights, merged, trained, defaults} = await findRun(model, lookup)
  const {
    tensors: base,
    folders,
    ...files
  } = isGgufName(basePath) ? await ggufFiles(path, basePath) : await folderFiles(path, basePath)
  const overlay = merged === undefined ? undefined : await readTensorMap(merged)
  const adapter = weights === undefined || manifest === undefined ? undefined : await readAdapter(weights, manifest)
  const promptFormat = await readPromptFormat(path)
  const generation = folders.map((folder) => join(folder, generationFile)).find(existsSync) ?? basePath
  const declared = {parameters: generationParameters(files.declarations.generation, generation)}
  const licenses = await Promise.all(folders.map(findLicense))
  const license = licenses.find((file) => file !== undefined)
  return {
    name,
    path,
    basePath,
    ...files,
    defaults: mergeDefaults(defaults, declared),
    ...(license === undefined ? {} : {license}),
    tensors: overlay === undefined ? base : new Map([...base, ...overlay]),
    untied: overlay?.has(headName) === true,
    ...(adapter === undefined || isMerged(adapter, overlay) ? {} : {adapter}),
    ...(manifest?.baseModel === undefined ? {} : {baseModel: manifest.baseModel}),
    ...(promptFormat === undefined ? {} : {promptFormat}),
    trained: trained || merged !== undefined,
  }
}

type ModelFiles = Pick<
  RunDirectory,
  'config' | 'readConfig' | 'tokenizer' | 'readTokenizer' | 'declarations' | 'tensors' | 'licenseName'
> & {
  /** Those that contain further files, the run directory first. */
  folders: readonly string[]
}

async function folderFiles(path: string, basePath: string): Promise<ModelFiles> {
  const tensors = await readShards(basePath)
  const folders = [...new Set([path, basePath])]
  const required = (file: string) => {
    const tried = folders.map((folder) => join(folder, file))
    const found = tried.find((place) => existsSync(place))
    if (found !== undefined) return found
    throw file === 'tokenizer.json' ? tokenizerMissing(path, tried) : new SvcError('model_file_missing', {file, tried})
  }
  const [config, tokenizer] = [required('config.json'), required('tokenizer.json')]
  return {
    tensors,
    folders,
    config,
    readConfig: () => readJsonObject(config),
    tokenizer,
    readTokenizer: () => readJsonObject(tokenizer),
    declarations: await readDeclarations(folders),
  }
}

/** A run directory may have a tokenizer and settings of its own; the configuration is that of the weights. */
async function ggufFiles(path: string, basePath: string): Promise<ModelFiles> {
  const {tensors, config, tokenizer, declarations, license} = await readGguf(basePath)
  const folders = isGgufName(path) ? [] : [path]
  const own = folders.map((folder) => join(folder, 'tokenizer.json')).find((file) => existsSync(file))
  return {
    tensors,
    folders,
    config: basePath,
    readConfig: async () => config,
    tokenizer: own ?? basePath,
    readTokenizer: async () => (own === undefined ? tokenizer() : readJsonObject(own)),
    declarations: mergedDeclarations([...(await Promise.all(folders.map(readFolder))), declarations()]),
    ...(license === undefined ? {} : {licenseName: license}),
  }
}

async function findLicense(folder: string): Promise<string | undefined> {
  const name = (await readdir(folder)).sort().find((candidate) => /^licen[cs]e(\.(txt|md))?$/i.test(candidate))
  return name === undefined ? undefined : join(folder, name)
}

/** The files of a run directory, before any weights are read. */
export interface FoundRun {
  /** Model name: the last component of the path in the request, without the extension of a GGUF file. */
  name: string
  path: string
  basePath: string
  manifest: AdapterManifest | undefined
  /** The adapter's weights. */
  weights: string | undefined
  /** Weights that replace those of the base. */
  merged: string | undefined
  trained: boolean
  /** Those of `svc.model.toml`. */
  defaults: ModelDefaults
}

/** Maximum number of directories, each of which is a variant of the next. */
const maxVariants = 8

/** Finds the files of a run directory; throws the errors of `openRunDirectory` for missing parts. */
export async function findRun(model: string, lookup: RunLookup = {}, variants = 0): Promise<FoundRun> {
  const around = surroundings(lookup)
  if (isOllamaName(model)) {
    const {name, path, defaults} = await readOllamaModel(model, around.ollama)
    return {
      name,
      path,
      basePath: path,
      manifest: undefined,
      weights: undefined,
      merged: undefined,
      trained: false,
      defaults,
    }
  }
  const path = await locate(model, around)
  const name = isGgufFile(path) ? ggufModelName(path) : basename(resolve(around.cwd, model))
  const baseOnly = {name, path, weights: undefined, merged: undefined, trained: false}
  // The defaults of a directory are not those of a file in it, of which the directory can be a variant.
  if (isGgufName(path) && !(await isFolder(path)))
    return {...baseOnly, basePath: path, manifest: undefined, defaults: {parameters: {}}}
  const {from, adapter, ...defaults} = await readModelFile(path)
  if (from !== undefined) {
    if (variants === maxVariants)
      throw new SvcError('model_defaults_invalid', {
        file: join(path, defaultsFile),
        reason: `more than ${maxVariants} models are variants of each other`,
      })
    const found = await findVariant(path, {from, adapter}, lookup, variants + 1)
    return {...found, name, defaults: mergeDefaults(defaults, found.defaults)}
  }
  const manifest = await readAdapterManifest(path, lookup.ignoreConfigKeys)
  if (lookup.baseOnly === true) {
    const basePath = await locateBase(path, manifest?.baseModel, lookup.base, around)
    return {...baseOnly, basePath, manifest, defaults}
  }
  if (lookup.ignoreEvalGate !== true) await requirePassedEvaluation(path)
  const weights = findAdapterWeights(path)
  const merged = existsSync(join(path, 'merged.safetensors')) ? join(path, 'merged.safetensors') : undefined
  const trained = manifest !== undefined || weights !== undefined || existsSync(join(path, 'training_manifest.json'))
  if (trained && weights === undefined && merged === undefined) throw new SvcError('adapter_missing', {path})
  if (weights !== undefined && manifest === undefined)
    throw new SvcError('adapter_invalid', {file: weights, reason: 'it has no manifest in its directory'})
  const basePath = await locateBase(path, manifest?.baseModel, lookup.base, around)
  return {name, path, basePath, manifest, weights, merged, trained, defaults}
}

/** The files of the model that a directory is a variant of. Relative paths start at the directory. */
async function findVariant(
  path: string,
  {from, adapter}: Required<Pick<ModelFile, 'from'>> & {adapter: string | undefined},
  lookup: RunLookup,
  variants: number,
): Promise<FoundRun> {
  const near = resolve(path, from)
  const base = /^\.\.?([\\/]|$)/.test(from) || (await isFolder(near)) || isGgufFile(near) ? near : from
  if (adapter === undefined) return findRun(base, lookup, variants)
  const under = await findRun(base, {...lookup, base: undefined, baseOnly: true}, variants)
  const found = await findRun(resolve(path, adapter), {...lookup, base: lookup.base ?? under.path}, variants)
  return {...found, defaults: mergeDefaults(found.defaults, under.defaults)}
}

/**
 * Whether the merged weights already contain the adapter; it must not be applied again then.
 * @throws adapter_ambiguous if they contain only part of it
 */
function isMerged({file, deltas}: Adapter, overlay: TensorMap | undefined): boolean {
  if (overlay === undefined) return false
  const isInside = ({target, b}: LoraDelta) =>
    overlay.has(target) ||
    (isHead(target) && overlay.has(headName)) ||
    placeInFused(target, b.shape[0] ?? 0, overlay) !== undefined
  const missing = deltas.find((delta) => !isInside(delta))
  if (missing !== undefined) throw new SvcError('adapter_ambiguous', {adapter: file, tensor: missing.target})
  return true
}

/**
 * Shows other processes that this one uses a model, until the returned function is called or the process exits.
 * @param model as for `openRunDirectory`
 * @throws what `findRun` throws
 */
export async function holdModel(model: string, lookup: RunLookup = {}): Promise<() => void> {
  const {path, basePath} = await findRun(model, lookup)
  const releases = [...new Set([path, basePath])].map((place) => holdOpenFor(place))
  return () => {
    for (const release of releases.splice(0)) release?.()
  }
}

/** A folder, or a GGUF file. */
async function locate(model: string, around: Surroundings): Promise<string> {
  if (isOllamaName(model)) return (await readOllamaModel(model, around.ollama)).path
  const path = resolve(around.cwd, model)
  if ((await isFolder(path)) || isGgufFile(path)) return path
  const {id, file, revision = defaultRevision} = parseModelName(model)
  const folder = await snapshotPlace(id, revision, around.cacheFolder)
  const snapshot = folder === undefined || file === undefined ? folder : join(folder, file)
  if (snapshot !== undefined && ((await isFolder(snapshot)) || isGgufFile(snapshot))) return snapshot
  const suggestion = await similarOllamaModel(model, around.ollama)
  throw new SvcError('model_not_found', {
    model,
    tried: [path, snapshot].filter((place) => place !== undefined),
    ...(suggestion === undefined ? {} : {suggestion}),
  })
}

const isGgufFile = (path: string): boolean => isGgufName(path) && existsSync(path)

/**
 * Where the weights of a folder or file are: itself, or the GGUF file in the folder; undefined if there are none.
 * @throws gguf_several
 */
export async function weightsPlace(place: string): Promise<string | undefined> {
  if (isGgufFile(place) || (await hasShards(place))) return place
  const [file, ...others] = ggufModels(await readdir(place))
    .sort()
    .map((name) => join(place, name))
  if (others.length > 0 && file !== undefined)
    throw new SvcError('gguf_several', {path: place, files: [file, ...others]})
  return file
}

/** Folder or file of the base model: the requested one, the directory itself, or the one in the manifest. */
async function locateBase(
  path: string,
  declared: string | undefined,
  requested: string | undefined,
  around: Surroundings,
): Promise<string> {
  const {cwd, cacheFolder} = around
  if (requested !== undefined) {
    const place = await locate(requested, around)
    return (await weightsPlace(place)) ?? place
  }
  const own = await weightsPlace(path)
  if (own !== undefined) return own
  const places =
    declared === undefined
      ? []
      : [resolve(path, declared), resolve(cwd, declared), await snapshotPlace(declared, defaultRevision, cacheFolder)]
  const tried = [...new Set(places.filter((place) => place !== undefined))]
  const folders: string[] = []
  for (const place of tried) if ((await isFolder(place)) || isGgufFile(place)) folders.push(place)
  for (const place of folders) {
    const found = await weightsPlace(place)
    if (found !== undefined) return found
  }
  for (const place of folders) {
    const error = await foreignWeights(place)
    if (error !== undefined) throw error
  }
  if (declared === undefined) throw await weightsMissing(path, shardPlaces(path))
  throw new SvcError('base_model_not_found', {base: declared, tried: [...shardPlaces(path), ...tried]})
}

/** @throws eval_gate_failed if the evaluation of the run failed */
async function requirePassedEvaluation(path: string): Promise<void> {
  const report = join(path, 'collateral_damage_report.json')
  if (!existsSync(report)) return
  const {status} = await readJsonObject(report)
  if (status === 'fail') throw new SvcError('eval_gate_failed', {file: report})
}
