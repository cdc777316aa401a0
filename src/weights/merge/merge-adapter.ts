import {existsSync} from 'node:fs'
import {mkdir, realpath, stat} from 'node:fs/promises'
import {dirname, join, resolve} from 'node:path'
import {SvcError} from '../../errors/index.js'
import {headName} from '../adapter.js'
import {ggufModelName} from '../gguf/gguf-file.js'
import {handoffName} from '../handoff-file.js'
import {writeSafetensors} from '../safetensors-writer.js'
import {removeAbandoned, writeFolderAtomic} from './atomic-folder.js'
import {type DescribeConfig, planGguf, writeGguf} from './gguf-output.js'
import {writeHandoff} from './handoff.js'
import {type MergeInputs, type MergeSource, readMergeInputs} from './merge-inputs.js'
import type {MergeMethodChoice} from './merge-methods.js'
import {type MergeChoices, type MergePlan, type PlannedTensor, planMerge} from './merge-plan.js'
import {cardFile, cardOf, type MergeRecipe, recipeFile, recipeOf} from './merge-recipe.js'
import {mergedBytes} from './merged-bytes.js'
import {byteLength, copyUntiedConfig, shardsOf, writeModelDirectory, writeText} from './model-directory.js'

export interface MergeRequest extends MergeChoices {
  source: MergeSource
  /** Default: linear. */
  method?: MergeMethodChoice
  /** A safetensors file; with `full` a folder; with `gguf` a GGUF file. */
  output: string
  /** Write a complete model as a GGUF file. Describes the configuration of a base in Hugging Face layout. */
  gguf?: DescribeConfig | undefined
  /** Replace existing output. */
  overwrite: boolean
  signal?: AbortSignal | undefined
  onProgress?: ((tensor: string, writtenBytes: number, totalBytes: number) => void) | undefined
}

export interface MergeResult {
  output: string
  /** Path of the hand-off file; undefined if it was not written, with the reason in `warnings`. */
  handoff: string | undefined
  tensors: number
  /** Number of tensors that the adapters updated. */
  changed: number
  method: MergeMethodChoice['name']
  adapters: number
  bytes: number
  dtypes: string[]
  warnings: string[]
}

const linear: MergeMethodChoice = {name: 'linear', density: 1, seed: 0}

/**
 * Merges adapters into the weights of their base model, in blocks of rows: for one, W' = W + alpha / rank * B A. The sum is
 * rounded once to 32-bit floats. The output is renamed to its final name when it is complete. Source: Hu et al. 2021.
 * @throws output_exists, output_is_input, interrupted; what `readMergeInputs`, `planMerge` and `mergedBytes` throw
 */
export async function mergeAdapter(request: MergeRequest): Promise<MergeResult> {
  const inputs = await readMergeInputs(request.source)
  try {
    return await merge(inputs, request)
  } finally {
    await inputs.gguf?.remove()
  }
}

async function merge(inputs: MergeInputs, request: MergeRequest): Promise<MergeResult> {
  const {full, dtype, untie, gguf, method = linear} = request
  const output = resolve(request.source.cwd, request.output)
  const plan = planMerge(inputs, {...request, full: full || gguf !== undefined})
  await requireWritable(output, request, inputs)
  await removeAbandoned(output)
  const recipe = await recipeOf(inputs, method)
  const untied = untie && plan.tensors.some(({name}) => name === headName)
  if (gguf !== undefined) return mergeToGguf(output, {inputs, plan, request, recipe, untied, describe: gguf})

  const written = new Progress(plan.tensors, request)
  const write = (file: string, tensors: readonly PlannedTensor[]) =>
    writeSafetensors(
      file,
      tensors.map((tensor) => ({
        name: tensor.name,
        dtype: tensor.dtype,
        shape: tensor.from.shape,
        length: byteLength(tensor),
        data: () => written.through(tensor, mergedBytes(tensor, method)),
      })),
      full ? {format: 'pt'} : {merge_recipe: JSON.stringify(recipe)},
    )
  if (full)
    await writeFolderAtomic(output, async (partial) => {
      await writeModelDirectory(partial, plan, {folders: inputs.folders, untied, dtype: floatDtype(dtype)}, write)
      await writeText(join(partial, recipeFile), `${JSON.stringify(recipe, undefined, 2)}\n`)
      await writeText(join(partial, cardFile), cardOf(recipe))
    })
  else {
    await mkdir(dirname(output), {recursive: true})
    await write(output, plan.tensors)
    if (untied) await copyUntiedConfig(dirname(output), inputs.folders)
  }
  return resultOf(output, {inputs, plan, request, written})
}

/** @throws Error for blocks, which only GGUF files have */
function floatDtype(dtype: MergeChoices['dtype']): Exclude<MergeChoices['dtype'], 'Q8_0'> {
  if (dtype === 'Q8_0') throw new Error('Safetensors files have no blocks of the type Q8_0.')
  return dtype
}

interface GgufMerge extends Pick<Finished, 'inputs' | 'plan' | 'request'> {
  recipe: MergeRecipe
  untied: boolean
  describe: DescribeConfig
}

async function mergeToGguf(output: string, {recipe, untied, describe, ...merge}: GgufMerge): Promise<MergeResult> {
  const {inputs, plan, request} = merge
  const {method = linear, dtype} = request
  const planned = await planGguf(plan, inputs, {dtype, untied}, describe)
  planned.entries.set('svc.merge_recipe', {text: JSON.stringify(recipe)})
  if (inputs.gguf === undefined) planned.entries.set('general.name', {text: ggufModelName(output)})
  const tensors = planned.tensors.flatMap(({parts}) => parts)
  const written = new Progress(tensors, request)
  await mkdir(dirname(output), {recursive: true})
  await writeGguf(output, planned, (tensor) => written.through(tensor, mergedBytes(tensor, method)))
  return resultOf(output, {...merge, plan: {tensors, warnings: [...plan.warnings, ...planned.warnings]}, written})
}

interface Finished {
  inputs: MergeInputs
  /** With the tensors as they were written. */
  plan: MergePlan
  request: MergeRequest
  written: Progress
}

async function resultOf(output: string, {inputs, plan, request, written}: Finished): Promise<MergeResult> {
  const {method = linear} = request
  const warnings = [...plan.warnings]
  return {
    output,
    handoff: await handOff(output, request, plan, inputs, warnings),
    tensors: plan.tensors.length,
    changed: plan.tensors.filter(({updates}) => updates.length > 0).length,
    method: method.name,
    adapters: inputs.adapters.length,
    bytes: written.totalBytes,
    dtypes: dtypesOf(plan),
    warnings,
  }
}

const dtypesOf = ({tensors}: MergePlan) => [...new Set(tensors.map(({dtype}) => dtype))].sort()

/** Whether the output is a folder. */
const isFolderOf = ({full, gguf}: MergeRequest) => full && gguf === undefined

/** Replaces existing output only with `overwrite`, a folder only if it is a model, and never an input of the merge. */
async function requireWritable(output: string, request: MergeRequest, inputs: MergeInputs): Promise<void> {
  if (!existsSync(output)) return
  if (!request.overwrite) throw new SvcError('output_exists', {path: output, flag: '--overwrite'})
  const isFolder = (await stat(output)).isDirectory()
  if (isFolderOf(request) !== isFolder || (isFolder && !existsSync(join(output, 'config.json'))))
    throw new SvcError('output_exists', {path: output, flag: undefined})
  const place = await realpath(output)
  const read = [...inputs.base.values(), ...inputs.adapters.map(({adapter}) => adapter)].map(({file}) => file)
  for (const file of new Set(read)) {
    const real = await realpath(file)
    if (real === place || real.startsWith(join(place, '/')))
      throw new SvcError('output_is_input', {path: output, input: file})
  }
}

/**
 * Writes the hand-off file; a failure is only a warning, because the merge itself succeeded. An existing file is replaced
 * only with `overwrite`, and never that of the merged run.
 */
async function handOff(
  output: string,
  request: MergeRequest,
  plan: MergePlan,
  inputs: MergeInputs,
  warnings: string[],
): Promise<string | undefined> {
  const {overwrite} = request
  const isFolder = isFolderOf(request)
  const folder = isFolder ? output : dirname(output)
  const [shard = ''] = shardsOf(plan.tensors).keys()
  const file = isFolder ? join(output, shard) : output
  const format = request.gguf !== undefined ? 'gguf' : isFolder ? 'directory' : 'changes'
  const existing = join(folder, handoffName)
  if (existsSync(existing) && (!overwrite || (await isOneOf(folder, inputs.folders)))) {
    warnings.push(`${existing} already exists and was not changed.`)
    return undefined
  }
  try {
    return await writeHandoff({file, folder, format, dtypes: dtypesOf(plan)}, inputs)
  } catch (error) {
    warnings.push(`The hand-off file was not written: ${(error as Error).message}`)
    return undefined
  }
}

async function isOneOf(folder: string, others: readonly string[]): Promise<boolean> {
  const real = await realpath(folder)
  return (await Promise.all(others.map((other) => realpath(other)))).includes(real)
}

/** Reports progress while bytes are written, and checks the abort signal. */
class Progress {
  readonly totalBytes: number
  readonly #request: MergeRequest
  #writtenBytes = 0

  constructor(tensors: readonly PlannedTensor[], request: MergeRequest) {
    this.totalBytes = tensors.reduce((sum, tensor) => sum + byteLength(tensor), 0)
    this.#request = request
  }

  async *through({name}: PlannedTensor, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const {signal, onProgress} = this.#request
    for await (const piece of pieces) {
      signal?.throwIfAborted()
      yield piece
      this.#writtenBytes += piece.length
      onProgress?.(name, this.#writtenBytes, this.totalBytes)
    }
  }
}
