import {createHash} from 'node:crypto'
import {readFile, stat} from 'node:fs/promises'
import type {ErrorRecord} from '../errors/index.js'
import type {RunDirectory, TensorEntry} from '../weights/index.js'
import type {DecoderSpec} from './spec.js'

/** Architecture, sizes and limits of a loaded model. */
export interface ModelDescription {
  name: string
  /** `model_type` of its configuration. */
  family: string
  contextLength: number
  embeddingLength: number
  blockCount: number
  headCount: number
  headCountKv: number
  parameterCount: number
  /** Of weights and adapter. */
  bytes: number
  dtype: string
  /** SHA-256 of the adapter file, or of the names, sizes and times of the shards where there is none. */
  digest: string
  modifiedAt: Date
  baseModel: string | undefined
  adapted: boolean
  /** Whether a training run left the directory behind. */
  trained: boolean
  /** The chat template as it is written, where there is one. */
  template: string | undefined
  /** Why it cannot be used, where it cannot. */
  templateFault: ErrorRecord | undefined
  /** Texts of the tokens that end a turn. */
  stop: string[]
  /** Bytes of the longest token. */
  longestToken: number
  /** Text of its licence, where its directory has one. */
  license: string | undefined
  /** Sampling that its `generation_config.json` recommends, by the names used there. */
  recommended: Readonly<Record<string, number>>
  /** Of the base and of merged weights; the adapter's are not among them. */
  tensors: readonly {name: string; dtype: string; shape: readonly number[]}[]
}

type FromDirectory = Omit<
  ModelDescription,
  'contextLength' | 'template' | 'templateFault' | 'stop' | 'longestToken' | 'recommended'
>

/** A licence that is larger is not shown, bytes. */
const largestLicense = 1 << 20

/** Keys of `generation_config.json` about sampling. */
const samplingKeys = ['temperature', 'top_k', 'top_p', 'min_p', 'repetition_penalty']

/** What a `generation_config.json` recommends for sampling. */
export const recommendedSampling = (config: Readonly<Record<string, unknown>>): Record<string, number> =>
  Object.fromEntries(
    samplingKeys.flatMap((key) => (Number.isFinite(config[key]) ? [[key, config[key] as number] as const] : [])),
  )

/** What can be told of a model from its directory and its configuration alone. */
export async function describeModel(
  {name, tensors, adapter, baseModel, trained, license}: RunDirectory,
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
  const {attention} = spec.layers[0] ?? {}
  return {
    name,
    family: spec.family,
    embeddingLength: spec.hiddenSize,
    blockCount: spec.layers.length,
    headCount: attention?.heads ?? 0,
    headCountKv: attention?.kvHeads ?? 0,
    parameterCount: weights.reduce((sum, {shape}) => sum + elements(shape), 0),
    bytes: stats.reduce((sum, {size}) => sum + size, 0),
    dtype: commonest(weights),
    digest: digest.digest('hex'),
    modifiedAt: new Date(newest),
    baseModel,
    adapted: adapter !== undefined,
    trained,
    license: await readLicense(license),
    tensors: weights.map(({name: tensor, dtype, shape}) => ({name: tensor, dtype, shape})),
  }
}

async function readLicense(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined
  try {
    const found = await stat(file)
    return found.isFile() && found.size <= largestLicense ? await readFile(file, 'utf8') : undefined
  } catch {
    // The model runs as well without it.
    return undefined
  }
}

const pick = ({size, mtimeMs}: {size: number; mtimeMs: number}) => ({size, mtimeMs})

const elements = (shape: readonly number[]) => shape.reduce((product, dim) => product * dim, 1)

/** The dtype that most elements have. */
function commonest(tensors: readonly TensorEntry[]): string {
  const counts = new Map<string, number>()
  for (const {dtype, shape} of tensors) counts.set(dtype, (counts.get(dtype) ?? 0) + elements(shape))
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 'F32'
}
