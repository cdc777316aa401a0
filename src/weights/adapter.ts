import {existsSync} from 'node:fs'
import {readdir} from 'node:fs/promises'
import {join} from 'node:path'
import {isObject} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {isEmpty, type NeutralKeys, oneOf, unsupportedKey} from './config-keys.js'
import {derivedKey} from './derived-cache.js'
import {readJsonObject} from './json-file.js'
import type {TensorEntry} from './safetensors.js'
import {readTensorMap, type TensorMap} from './shards.js'

/** A low-rank update of one weight: W' = W + scale * B A. */
export interface LoraDelta {
  /** Name of the base tensor that it updates. */
  target: string
  /** Down projection `[rank, in]`. */
  a: TensorEntry
  /** Up projection `[out, rank]`. */
  b: TensorEntry
  scale: number
}

/** A trained LoRA adapter. */
export interface Adapter {
  file: string
  deltas: readonly LoraDelta[]
}

/** Name of a head that is not tied to the embedding. */
export const headName = 'lm_head.weight'

/**
 * Whether a delta updates the output head. Training names the embedding as its target, because a tied head is the
 * embedding, even if the model has a separate head.
 */
export const isHead = (target: string): boolean =>
  target === headName || /(^|\.)(embed_tokens|wte)\.weight$/.test(target)

/** The manifest of an adapter, in any format. */
export interface AdapterManifest {
  file: string
  /** Path or hub id of the base model. */
  baseModel: string | undefined
  /** Names of the base tensors that it updates, if the manifest lists them. */
  targets: readonly string[]
  /** Logical names without a base tensor; their updates are ignored. */
  unmapped: readonly string[]
  /** Rank of all LoRA pairs. */
  rank: number
  /** Resolves the LoRA pairs among the tensors of the adapter. */
  deltas(tensors: TensorMap): LoraDelta[]
}

const weightFiles = ['candle_qlora_adapter.safetensors', 'adapter_model.safetensors']
const manifestNames: readonly (string | RegExp)[] = [
  'adapter_manifest.json',
  /adapter_manifest_v3\.json$/,
  'adapter_meta_v2.json',
  'candle_qlora_adapter_meta.json',
  'meta.json',
  'adapter_config.json',
]

/** The name of the manifest among the files of a directory. */
function findManifest(names: readonly string[]): string | undefined {
  const sorted = [...names].sort()
  for (const pattern of manifestNames) {
    const found = sorted.find((name) => (typeof pattern === 'string' ? name === pattern : pattern.test(name)))
    if (found !== undefined) return found
  }
  return undefined
}

/** The files of an adapter among names: its weights and its manifest. Undefined if one is missing. */
export function adapterFilesOf(names: readonly string[]): string[] | undefined {
  const weights = weightFiles.find((name) => names.includes(name))
  const manifest = findManifest(names)
  return weights === undefined || manifest === undefined ? undefined : [weights, manifest]
}

/** Whether a directory contains an adapter: a manifest and weights. */
export const hasAdapter = async (path: string): Promise<boolean> => adapterFilesOf(await readdir(path)) !== undefined

/** The weights file of the adapter in a directory, if there is one. */
export const findAdapterWeights = (path: string): string | undefined =>
  weightFiles.map((file) => join(path, file)).find((file) => existsSync(file))

/**
 * Reads the first manifest found in a directory, in this order: v3, v2, PEFT.
 * @param ignored unknown keys of PEFT that may be present
 */
export async function readAdapterManifest(
  path: string,
  ignored: readonly string[] = [],
): Promise<AdapterManifest | undefined> {
  const name = findManifest(await readdir(path))
  return name === undefined ? undefined : readManifestFile(join(path, name), ignored)
}

/** Reads one manifest in any format. */
export const readManifestFile = async (file: string, ignored: readonly string[] = []): Promise<AdapterManifest> =>
  parseManifest(file, await readJsonObject(file), ignored)

/** @throws adapter_invalid, adapter_tensor_missing, safetensors_invalid */
export async function readAdapter(file: string, manifest: AdapterManifest): Promise<Adapter> {
  const deltas = manifest.deltas(await readTensorMap(file))
  if (deltas.length === 0) throw new SvcError('adapter_invalid', {file, reason: 'it updates no weight'})
  for (const {target, a, b} of deltas) {
    const ranks = [a.shape[0], b.shape[1]]
    if (ranks.some((rank) => rank !== manifest.rank))
      throw invalid(
        file,
        `the tensors for ${target} have rank ${ranks.join(' and ')}, but its manifest declares rank ${manifest.rank}`,
      )
  }
  return {file, deltas}
}

/** An adapter of a directory, without its base model. */
export interface AdapterDirectory extends Adapter {
  /** Path of the manifest. */
  manifest: string
  /** Path or hub id of the base model in the manifest. */
  baseModel: string | undefined
  /** Key of the contents of its files. */
  key: string
}

/**
 * Reads the headers of the adapter in a directory.
 * @param ignored unknown keys of PEFT that may be present
 * @throws adapter_missing, adapter_invalid, adapter_unsupported, adapter_tensor_missing, safetensors_invalid
 */
export async function openAdapter(path: string, ignored: readonly string[] = []): Promise<AdapterDirectory> {
  const weights = findAdapterWeights(path)
  if (weights === undefined) throw new SvcError('adapter_missing', {path})
  const manifest = await readAdapterManifest(path, ignored)
  if (manifest === undefined) throw invalid(weights, 'it has no manifest in its directory')
  const {file, deltas} = await readAdapter(weights, manifest)
  const key = await derivedKey([manifest.file, weights], 'adapter')
  return {file, manifest: manifest.file, deltas, baseModel: manifest.baseModel, key}
}

/**
 * Checks the shapes of a LoRA pair for a weight `[out, in]`.
 * @throws adapter_mismatch
 */
export function requirePairFits({target, a, b}: LoraDelta, found: readonly number[]): void {
  const [out, input] = found
  const [rank] = a.shape
  for (const [{name, shape}, expected] of [
    [a, [rank, input]],
    [b, [out, rank]],
  ] as const)
    if (found.length !== 2 || shape.length !== 2 || shape.some((dim, i) => dim !== expected[i]))
      throw new SvcError('adapter_mismatch', {tensor: name, adapter: shape, base: target, found})
}

/**
 * Checks that an adapter updates only weights that a model has, with their shapes.
 * @param tensors those of the model
 * @param model its name, for messages
 * @throws tensor_missing, adapter_mismatch
 */
export function requireFit(
  {deltas}: Adapter,
  tensors: readonly {name: string; shape: readonly number[]}[],
  model: string,
): void {
  const shapes = new Map(tensors.map(({name, shape}) => [name, shape]))
  const head = shapes.get(headName) ?? tensors.find(({name}) => isHead(name))?.shape
  for (const delta of deltas) {
    const found = isHead(delta.target) ? head : shapes.get(delta.target)
    if (found === undefined) throw new SvcError('tensor_missing', {tensor: delta.target, files: [model]})
    requirePairFits(delta, found)
  }
}

type Json = Readonly<Record<string, unknown>>

function parseManifest(file: string, json: Json, ignored: readonly string[]): AdapterManifest {
  const {format, peft_type: peftType} = json
  if (typeof format === 'string' && /_mens_adapter$|_mens_qlora_lora_only_v2$/.test(format))
    return parseMapped(file, json)
  if (peftType !== undefined || 'lora_alpha' in json) return parsePeft(file, json, ignored)
  throw invalid(file, `its format is ${JSON.stringify(format)}; expected *_mens_adapter, *_lora_only_v2 or PEFT`)
}

/** Manifest v3 (with nested or flat quantisation) and meta v2: logical names are mapped to base tensors. */
function parseMapped(file: string, json: Json): AdapterManifest {
  const {base_key_map: map, layer_order: order, rank, alpha} = json
  if (!isTextMap(map)) throw invalid(file, 'base_key_map must map logical names to base tensors')
  if (!isTexts(order)) throw invalid(file, 'layer_order must be a list of logical names')
  const pairs = positive(file, 'rank', rank)
  const scale = positive(file, 'alpha', alpha) / pairs
  return {
    file,
    rank: pairs,
    baseModel: blankAsUnset(json.base_model),
    targets: Object.values(map),
    unmapped: order.filter((logical) => map[logical] === undefined),
    deltas: (tensors) =>
      order.flatMap((logical) => {
        const target = map[logical]
        if (target === undefined) return []
        return [{target, scale, ...pair(tensors, file, [`${logical}.lora_a`], [`${logical}.lora_b`])}]
      }),
  }
}

/**
 * Keys of a PEFT configuration that do not affect inference: metadata, training options, the selection of modules, which
 * the names of the tensors show, and options of initialisations.
 */
const peftInert: ReadonlySet<string> = new Set([
  ...['task_type', 'auto_mapping', 'peft_version', 'revision', 'inference_mode', 'runtime_config'],
  ...['target_modules', 'exclude_modules', 'layers_to_transform', 'layers_pattern', 'lora_dropout'],
  ...['eva_config', 'corda_config', 'loftq_config', 'lora_ga_config', 'qalora_group_size'],
  ...['megatron_config', 'megatron_core'],
])

/** Keys that affect inference, with a test for their neutral values. */
const peftNeutral: NeutralKeys['neutral'] = {
  use_dora: oneOf(false),
  fan_in_fan_out: oneOf(false),
  bias: oneOf('none'),
  modules_to_save: isEmpty,
  alpha_pattern: isEmpty,
  rank_pattern: isEmpty,
  use_bdlora: oneOf(false),
  use_qalora: oneOf(false),
  lora_bias: oneOf(false),
  layer_replication: isEmpty,
  // Updates of parameters that are not the weight of a linear layer, and of single embeddings.
  target_parameters: isEmpty,
  trainable_token_indices: isEmpty,
  // Arrow selects one of several adapters for each token.
  arrow_config: isEmpty,
  // Activated LoRA applies only after these tokens.
  alora_invocation_tokens: isEmpty,
  alora_invocation_string: oneOf(''),
  // Other initialisations, such as PiSSA, OLoRA and CorDA, also change the base model.
  init_lora_weights: (value) => typeof value === 'boolean' || oneOf('gaussian', 'eva', 'orthogonal')(value),
}

/** Keys of a PEFT configuration that are read. */
const peftRead = ['peft_type', 'r', 'lora_alpha', 'use_rslora', 'base_model_name_or_path']

const peftName = /^base_model\.model\.(.+)\.lora_([AB])(?:\.default)?(?:\.weight)?$/

/** PEFT's `adapter_config.json`; every tensor of the file must be a half of a pair. */
function parsePeft(file: string, json: Json, ignored: readonly string[]): AdapterManifest {
  if (json.peft_type !== undefined && json.peft_type !== 'LORA')
    throw new SvcError('adapter_unsupported', {
      file,
      key: 'peft_type',
      value: JSON.stringify(json.peft_type),
      isKnown: true,
    })
  const isHandled = (key: string) =>
    peftRead.includes(key) || (ignored.includes(key) && !Object.hasOwn(peftNeutral, key))
  const key = unsupportedKey(json, {inert: peftInert, neutral: peftNeutral}, isHandled)
  if (key !== undefined) {
    const isKnown = Object.hasOwn(peftNeutral, key)
    throw new SvcError('adapter_unsupported', {file, key, value: JSON.stringify(json[key]), isKnown})
  }
  const rank = positive(file, 'r', json.r)
  const scale = positive(file, 'lora_alpha', json.lora_alpha) / (json.use_rslora === true ? Math.sqrt(rank) : rank)
  return {
    file,
    rank,
    baseModel: blankAsUnset(json.base_model_name_or_path),
    targets: [],
    unmapped: [],
    deltas(tensors) {
      const unknown = [...tensors.keys()].find((name) => !peftName.test(name))
      if (unknown !== undefined) throw invalid(file, `the tensor ${unknown} is not part of a LoRA pair`)
      const modules = [...new Set([...tensors.keys()].map((name) => peftName.exec(name)?.[1] as string))]
      return modules.map((module) => {
        const namesOf = (half: string) =>
          [`.lora_${half}`, `.lora_${half}.default`].map((end) => `base_model.model.${module}${end}`)
        return {target: `${module}.weight`, scale, ...pair(tensors, file, namesOf('A'), namesOf('B'))}
      })
    },
  }
}

/** Finds both tensors of a pair by any of their names, with or without `.weight`. */
function pair(tensors: TensorMap, file: string, a: readonly string[], b: readonly string[]) {
  const find = (names: readonly string[]) => {
    for (const name of names) {
      const entry = tensors.get(name) ?? tensors.get(`${name}.weight`)
      if (entry !== undefined) return entry
    }
    throw new SvcError('adapter_tensor_missing', {tensor: names[0] ?? '', manifest: file})
  }
  return {a: find(a), b: find(b)}
}

const invalid = (file: string, reason: string) => new SvcError('adapter_invalid', {file, reason})

function positive(file: string, key: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0)
    throw invalid(file, `${key} must be a number above 0, not ${JSON.stringify(value)}`)
  return value
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

const isTextMap = (value: unknown): value is Record<string, string> => isObject(value) && isTexts(Object.values(value))

const blankAsUnset = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
