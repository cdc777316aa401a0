import {createHash} from 'node:crypto'
import {readFile, stat} from 'node:fs/promises'
import type {ErrorRecord} from '../errors/index.js'
import {isGgufName, type ModelDefaults, type RunDirectory, type TensorEntry} from '../weights/index.js'
import type {Abilities} from './abilities.js'
import type {Precision} from './precision.js'
import type {ModelSources} from './receipt/model-sources.js'
import {attentionsOf, type DecoderSpec} from './spec.js'

/** Architecture, sizes and limits of a loaded model. */
export interface ModelDescription {
  name: string
  /** The directories of its files: that of the model or run, and that of its base. */
  folders: readonly string[]
  /** `model_type` of its configuration. */
  family: string
  contextLength: number
  embeddingLength: number
  blockCount: number
  headCount: number
  headCountKv: number
  parameterCount: number
  /** Total size of the weights and the adapter. */
  bytes: number
  /** Format of the files with the base weights. */
  format: 'safetensors' | 'gguf'
  dtype: string
  /** Precision of the weights in the graph. */
  precision: Precision
  /** Approximate memory when it is loaded: weights, keys and values of a complete context, saved prompts. */
  memoryBytes: number
  /** SHA-256 of the adapter file; without an adapter, of the names, sizes and modification times of the shards. */
  digest: string
  modifiedAt: Date
  baseModel: string | undefined
  adapted: boolean
  /** Whether the directory is the result of a training run. */
  trained: boolean
  /** Source of the chat template, if there is one. */
  template: string | undefined
  /** Set if the chat template is invalid. */
  templateError: ErrorRecord | undefined
  /** What not every model can do. */
  abilities: Abilities
  /** How tools are written, if the chat template does not write them. */
  toolNote: string | undefined
  /** Texts of the tokens that end a turn. */
  stop: string[]
  /** Length of the longest token, bytes. */
  longestToken: number
  /** Text of the licence file, if there is one. */
  license: string | undefined
  /** Penalty of `generation_config.json` for tokens of prompt and reply; 1 is none. */
  repetitionPenalty: number
  /** How it is used unless a request says otherwise. */
  defaults: ModelDefaults
  /** Tensors of the base or merged weights, without those of the adapter. */
  tensors: readonly {name: string; dtype: string; shape: readonly number[]}[]
  /** What receipts of its replies are computed from. */
  sources: ModelSources
}

type FromDirectory = Omit<
  ModelDescription,
  | 'contextLength'
  | 'precision'
  | 'memoryBytes'
  | 'template'
  | 'templateError'
  | 'abilities'
  | 'toolNote'
  | 'stop'
  | 'longestToken'
  | 'repetitionPenalty'
  | 'sources'
>

/** Maximum size of a licence file, bytes; a larger one is ignored. */
const maxLicenseBytes = 1 << 20

/** The part of the description that needs only the directory and the configuration. */
export async function describeModel(
  {name, path, basePath, tensors, adapter, baseModel, trained, license, defaults}: RunDirectory,
  spec: DecoderSpec,
): Promise<FromDirectory> {
  const weights = [...tensors.values()]
  const files = [...new Set([...weights.map(({file}) => file), ...(adapter === undefined ? [] : [adapter.file])])]
  const stats = await Promise.all(files.map(async (file) => ({file, ...pick(await stat(file))})))
  const newest = Math.max(...stats.map(({mtimeMs}) => mtimeMs))
  const digest = createHash('sha256').update(
    adapter === undefined
      ? stats.map(({file, size, mtimeMs}) => `${file}\0${size}\0${mtimeMs}\n`).join('')
      : await readFile(adapter.file),
  )
  const [attention] = attentionsOf(spec)
  return {
    name,
    folders: [...new Set([path, basePath])],
    family: spec.family,
    embeddingLength: spec.hiddenSize,
    blockCount: spec.layers.length,
    headCount: attention?.heads ?? 0,
    headCountKv: attention?.kvHeads ?? 0,
    parameterCount: weights.reduce((sum, {shape}) => sum + elements(shape), 0),
    bytes: stats.reduce((sum, {size}) => sum + size, 0),
    format: isGgufName(basePath) ? 'gguf' : 'safetensors',
    dtype: commonest(weights),
    digest: digest.digest('hex'),
    modifiedAt: new Date(newest),
    baseModel,
    adapted: adapter !== undefined,
    trained,
    license: defaults.license ?? (await readLicense(license)),
    defaults,
    tensors: weights.map(({name: tensor, dtype, shape}) => ({name: tensor, dtype, shape})),
  }
}

async function readLicense(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined
  try {
    const found = await stat(file)
    return found.isFile() && found.size <= maxLicenseBytes ? await readFile(file, 'utf8') : undefined
  } catch {
    // The licence text is optional.
    return undefined
  }
}

const pick = ({size, mtimeMs}: {size: number; mtimeMs: number}) => ({size, mtimeMs})

const elements = (shape: readonly number[]) => shape.reduce((product, dim) => product * dim, 1)

/** The dtype of most elements. */
function commonest(tensors: readonly TensorEntry[]): string {
  const counts = new Map<string, number>()
  for (const {dtype, shape} of tensors) counts.set(dtype, (counts.get(dtype) ?? 0) + elements(shape))
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 'F32'
}
