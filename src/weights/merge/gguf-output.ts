import {counted, SvcError} from '../../errors/index.js'
import {headName} from '../adapter.js'
import {blockTypeOf, isBlockDtype} from '../block-types.js'
import {type Declarations, readDeclarations, readFolder} from '../declarations.js'
import {type FusedMatrix, updatesOfParts, withParts} from '../fused.js'
import type {Architecture} from '../gguf/architectures.js'
import {type GgufEntry, ggufHead} from '../gguf/entries.js'
import {readGguf} from '../gguf/gguf-file.js'
import {defaultAlignment} from '../gguf/header.js'
import {type HeadSizes, layoutOf, storedShape} from '../gguf/layout.js'
import {divisorTensors, ggufTensorName} from '../gguf/names.js'
import {tensorTypeNumber} from '../gguf/tensor-types.js'
import {type TokenizerJson, textEntries, tokenizerEntries} from '../gguf/tokenizer-entries.js'
import {readJsonObject} from '../json-file.js'
import type {TensorEntry} from '../safetensors.js'
import {type TensorData, writeTensorFile} from '../tensor-file.js'
import {type RowLayout, readTensorFloat32} from '../weight-rows.js'
import {findFirst, type MergeInputs} from './merge-inputs.js'
import {type MergeChoices, type MergePlan, type PlannedTensor, storedDtype} from './merge-plan.js'
import {byteLength, mergedConfig} from './model-directory.js'

/** A configuration as GGUF files describe it. */
export interface GgufDescription {
  /** Name of the architecture in llama.cpp, and what it is there. */
  name: string
  architecture: Architecture
  /** Metadata of the architecture. */
  entries: Readonly<Record<string, GgufEntry>>
  /** Divisors of rotary frequencies. */
  divisors: Partial<Record<keyof typeof divisorTensors, readonly number[]>>
  heads: HeadSizes
  /** Matrices whose parts may be tensors of their own in the file. */
  fused: readonly FusedMatrix[]
  vocabSize: number
  /** Whether the head is the embedding. */
  tied: boolean
  /** What the names of all tensors but the head start with. */
  root: string
  warnings: readonly string[]
  /**
   * Compares the file with the configuration.
   * @param has whether the file contains a tensor, by its name in transformers
   * @throws gguf_inexpressible
   */
  check(config: Readonly<Record<string, unknown>>, has: (tensor: string) => boolean): void
}

/** Describes a `config.json`. @throws gguf_inexpressible; what reading the configuration throws */
export type DescribeConfig = (
  config: Readonly<Record<string, unknown>>,
  file: string,
  has: (tensor: string) => boolean,
) => GgufDescription

/** Tensors of a GGUF file; several are parts of one. */
export interface GgufTensorPlan {
  name: string
  dtype: string
  shape: readonly number[]
  parts: readonly PlannedTensor[]
}

/** A complete GGUF file before its weights are read. */
export interface GgufPlan {
  entries: Map<string, GgufEntry | Buffer>
  tensors: readonly GgufTensorPlan[]
  /** Small tensors that no adapter updates. */
  divisors: readonly {name: string; values: Float32Array}[]
  alignment: number
  check: ((partial: string) => Promise<void>) | undefined
  warnings: readonly string[]
}

/**
 * Plans a GGUF file with all tensors. The metadata of a base in a GGUF file is copied; that of a model directory is made of its
 * configuration and tokenizer.
 * @param plan of the complete model
 * @throws gguf_inexpressible, model_file_missing, model_file_invalid
 */
export async function planGguf(
  plan: MergePlan,
  inputs: MergeInputs,
  choices: Pick<MergeChoices, 'dtype'> & {untied: boolean},
  describe: DescribeConfig,
): Promise<GgufPlan> {
  return inputs.gguf === undefined ? fromFolders(plan, inputs, choices, describe) : fromGguf(plan, inputs, choices)
}

/** Keys of templates and sampling in a run directory replace those of its base. */
async function fromGguf(plan: MergePlan, inputs: MergeInputs, {dtype}: Pick<MergeChoices, 'dtype'>): Promise<GgufPlan> {
  const {gguf, folders} = inputs as MergeInputs & {gguf: NonNullable<MergeInputs['gguf']>}
  const {architecture, heads, divisors, alignment, readEntries} = gguf.source
  const layout = ({from: {order, surplus, isNegativeExp}}: PlannedTensor) => ({order, surplus, isNegativeExp})
  const tensors = stacked(plan.tensors, {architecture, layout, heads, dtype, file: gguf.file})
  const runs = folders.filter((folder) => folder !== gguf.folder)
  const declared: Declarations[] = await Promise.all(runs.map(readFolder))
  const own = declared.map(textEntries).reverse()
  const entries = new Map<string, GgufEntry | Buffer>([
    ...(await readEntries()),
    ...Object.entries(Object.assign({}, ...own) as Record<string, GgufEntry>),
    ...fileType(tensors),
  ])
  const other = findFirst(runs, 'tokenizer.json')
  return {
    entries,
    tensors,
    divisors: await Promise.all(
      divisors.map(async (entry) => ({name: entry.name, values: await readTensorFloat32(entry)})),
    ),
    alignment,
    check: undefined,
    warnings: other === undefined ? [] : [`The tokenizer of ${gguf.file} is written, not ${other}.`],
  }
}

async function fromFolders(
  plan: MergePlan,
  {folders, base}: MergeInputs,
  {dtype, untied}: Pick<MergeChoices, 'dtype'> & {untied: boolean},
  describe: DescribeConfig,
): Promise<GgufPlan> {
  const config = await mergedConfig({folders, untied, dtype: undefined})
  const file = findFirst(folders, 'config.json') as string
  const has = (name: string) => base.has(name) || (untied && name === headName)
  const described = describe(config, file, has)
  const {name, architecture, entries, divisors, heads, fused, vocabSize, tied, root, check} = described
  const tokenizer = findFirst(folders, 'tokenizer.json') as string
  const written = tokenizerEntries({
    file: tokenizer,
    json: (await readJsonObject(tokenizer)) as TokenizerJson,
    declarations: await readDeclarations(folders),
    vocabSize,
  })
  const matrices = fused.filter((matrix) => ggufTensorName(matrix.name, architecture) === undefined)
  const isHead = ({name}: PlannedTensor) => /(^|\.)lm_head\.weight$/.test(name)
  const others = plan.tensors.filter((tensor) => !isHead(tensor) && !tensor.name.startsWith(`${root}.`))
  const updated = others.find(({updates}) => updates.length > 0)
  if (updated !== undefined) throw new SvcError('gguf_inexpressible', {file, feature: `the tensor ${updated.name}`})
  const text = plan.tensors.filter((tensor) => !others.includes(tensor))
  const kept = separated(text, matrices).flatMap((tensor) => {
    if (/\.rotary_emb\.inv_freq$/.test(tensor.name)) return []
    if (isHead(tensor)) return tied ? [] : [{...tensor, name: headName}]
    return [{...tensor, name: `model${tensor.name.slice(root.length)}`}]
  })
  const layout = (tensor: PlannedTensor) => layoutOf(tensor.name, architecture, heads)
  const tensors = stacked(kept, {architecture, layout, heads, dtype, file})
  const all: [string, GgufEntry][] = [
    ['general.architecture', {text: name}],
    ['general.type', {text: 'model'}],
    ['general.quantization_version', {u32: 2}],
    ...Object.entries(entries),
    ...Object.entries(written.entries),
    ...fileType(tensors),
  ]
  return {
    entries: new Map(all),
    tensors,
    divisors: Object.entries(divisors).map(([kind, values]) => ({
      name: divisorTensors[kind as keyof typeof divisorTensors],
      values: Float32Array.from(values),
    })),
    alignment: defaultAlignment,
    async check(partial) {
      const {config: found, tensors: own} = await readGguf(partial)
      check(found, (tensor) => own.has(tensor))
    },
    warnings: [...described.warnings, ...written.warnings, ...leftOut(others)],
  }
}

/** Parts of multimodal models that do not read text, and layers that predict further tokens. */
const leftOut = ([first, ...others]: readonly PlannedTensor[]): string[] =>
  first === undefined
    ? []
    : [`The file has only the language model, without ${counted(others.length + 1, 'tensor')}, such as ${first.name}.`]

/** Fused matrices as their parts. */
const separated = (tensors: readonly PlannedTensor[], matrices: readonly FusedMatrix[]): PlannedTensor[] =>
  tensors.flatMap((tensor) => {
    const matrix = matrices.find(({name}) => name === tensor.name)
    if (matrix === undefined) return [tensor]
    const parts = withParts(new Map([[matrix.name, tensor.from]]), [matrix])
    return matrix.parts.map(({name}, i) => ({
      ...tensor,
      name,
      from: parts.get(name) as TensorEntry,
      updates: tensor.updates.map((update) => ({
        ...update,
        parts: update.parts.flatMap(({delta}) => {
          const own = updatesOfParts(delta, matrix)[i]
          return own === undefined ? [] : [{delta: own, firstRow: undefined}]
        }),
      })),
    }))
  })

interface Target {
  architecture: Architecture
  layout(tensor: PlannedTensor): RowLayout
  heads: HeadSizes
  dtype: MergeChoices['dtype']
  /** The file with the configuration. */
  file: string
}

/** The tensors by their names in llama.cpp, where the matrices of experts are one. */
function stacked(tensors: readonly PlannedTensor[], target: Target): GgufTensorPlan[] {
  const groups = new Map<string, PlannedTensor[]>()
  for (const tensor of tensors) {
    const name = ggufTensorName(tensor.name, target.architecture)
    if (name === undefined)
      throw new SvcError('gguf_inexpressible', {file: target.file, feature: `the tensor ${tensor.name}`})
    groups.set(name, [...(groups.get(name) ?? []), tensor])
  }
  return [...groups].map(([name, group]) => {
    const parts = [...group].sort((a, b) => expertOf(a) - expertOf(b))
    const [first] = parts as [PlannedTensor, ...PlannedTensor[]]
    const dtype = dtypeOf(name, parts, target)
    const shape = storedShape(first.name, first.from.shape, target.heads)
    return {
      name,
      dtype,
      shape: /_exps\./.test(name) ? [parts.length, ...shape] : shape,
      parts: parts.map((part) => ({...part, dtype, layout: target.layout(part)})),
    }
  })
}

const expertOf = ({name}: PlannedTensor) => Number(/\.experts\.(\d+)\./.exec(name)?.[1] ?? 0)

/** llama.cpp computes vectors, kernels and routers with 32-bit floats only. */
function dtypeOf(name: string, parts: readonly PlannedTensor[], {dtype}: Target): string {
  const [{from}] = parts as [PlannedTensor, ...PlannedTensor[]]
  if (from.shape.length !== 2 || /ffn_gate_inp\./.test(name)) return 'F32'
  if (dtype === 'Q8_0') return (from.shape.at(-1) ?? 0) % blockTypeOf(dtype).weights === 0 ? dtype : 'F16'
  if (dtype !== undefined) return dtype
  const isCopied = parts.every(({updates, from: {dtype: own}}) => updates.length === 0 && own === from.dtype)
  return isCopied && isBlockDtype(from.dtype) ? from.dtype : storedDtype(from)
}

/** Numbers of the types of most tensors. */
const fileTypes: Readonly<Record<string, number>> = {F32: 0, F16: 1, Q8_0: 7, BF16: 32}

/** The type of most weights, if it has a number of its own. */
function fileType(tensors: readonly GgufTensorPlan[]): [string, GgufEntry][] {
  const bytes = new Map<string, number>()
  for (const {dtype, parts} of tensors)
    bytes.set(
      dtype,
      parts.reduce((sum, part) => sum + byteLength(part), bytes.get(dtype) ?? 0),
    )
  const [most = ''] = [...bytes].sort(([, a], [, b]) => b - a)[0] ?? []
  const number = fileTypes[most]
  return number === undefined ? [] : [['general.file_type', {u32: number}]]
}

/**
 * Writes a planned file.
 * @param data of a planned tensor
 * @throws disk_full, file_unwritable; what `data` and the check of the plan throw
 */
export async function writeGguf(
  file: string,
  {entries, tensors, divisors, alignment, check}: GgufPlan,
  data: (tensor: PlannedTensor) => AsyncIterable<Uint8Array>,
): Promise<void> {
  const planned = tensors.map(({name, dtype, shape, parts}) => ({
    name,
    type: tensorTypeNumber(dtype),
    shape,
    length: parts.reduce((sum, part) => sum + byteLength(part), 0),
    data: () => concatenated(parts, data),
  }))
  const small = divisors.map(({name, values}) => ({
    name,
    type: tensorTypeNumber('F32'),
    shape: [values.length],
    length: values.byteLength,
    data: (): Uint8Array => new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
  }))
  const all: (TensorData & {type: number; shape: readonly number[]})[] = [...small, ...planned]
  await writeTensorFile(file, ggufHead(entries, all, alignment), all, {alignment, check, first: small.length})
}

async function* concatenated(
  parts: readonly PlannedTensor[],
  data: (tensor: PlannedTensor) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield* data(part)
}
