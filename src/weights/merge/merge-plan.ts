import {SvcError} from '../../errors/index.js'
import {headName, isHead, type LoraDelta} from '../adapter.js'
import {isBlockDtype} from '../block-types.js'
import {type FloatDtype, isWidened} from '../dtype.js'
import {placeInFused, withSeparateParts} from '../fused.js'
import type {TensorEntry} from '../safetensors.js'
import type {TensorMap} from '../shards.js'
import {type RowLayout, refuseOtherThanWeights} from '../weight-rows.js'
import type {MergeInputs} from './merge-inputs.js'

/** An update of a tensor, or of some of the rows of a fused matrix. */
interface UpdatedPart {
  delta: LoraDelta
  /** First row of a part; undefined: the update is that of the complete tensor. */
  firstRow: number | undefined
}

/** What an adapter adds to a tensor. */
export interface PlannedUpdate {
  parts: readonly UpdatedPart[]
  weight: number
  /** Position of the adapter among those that are merged. */
  adapter: number
}

export interface PlannedTensor {
  name: string
  /** Source tensor of the base model. */
  from: TensorEntry
  /** Empty if the base tensor is copied. */
  updates: readonly PlannedUpdate[]
  dtype: string
  /** Of the values that are written; default: as in transformers. */
  layout?: RowLayout
}

export interface MergePlan {
  tensors: readonly PlannedTensor[]
  warnings: readonly string[]
}

export interface MergeChoices {
  /** Write all tensors of the base model, not only those that the adapters update. */
  full: boolean
  /**
   * Default: the dtype of each base tensor, F16 for blocks of GGUF files that change or are written to safetensors. Q8_0 is one
   * of GGUF files.
   */
  dtype: FloatDtype | 'Q8_0' | undefined
  /** Write a separate head if it is tied to the embedding. */
  untie: boolean
}

/**
 * Plans the tensors to write and their sources.
 * @throws tensor_missing, tensor_dtype, adapter_invalid, adapter_mismatch
 */
export function planMerge({base, adapters}: MergeInputs, {full, dtype, untie}: MergeChoices): MergePlan {
  const warnings = new Set<string>()
  const changed = new Map<string, PlannedTensor>()
  for (const [i, {adapter, manifest, weight}] of adapters.entries()) {
    for (const name of manifest.unmapped) warnings.add(`${name} has no base tensor in ${manifest.file} and is ignored.`)
    for (const delta of withSeparateParts(adapter, base).deltas) {
      const {name, from, firstRow, warning} = placeOf(delta, base, untie)
      if (warning !== undefined) warnings.add(warning)
      refuseOtherThanWeights(from)
      const updates = changed.get(name)?.updates ?? []
      const {parts} = updates.find((update) => update.adapter === i) ?? {parts: []}
      if (parts.some((other) => other.firstRow === undefined || other.firstRow === firstRow))
        throw new SvcError('adapter_invalid', {file: adapter.file, reason: `it updates ${name} twice`})
      const others = updates.filter((update) => update.adapter !== i)
      const update = {parts: [...parts, {delta, firstRow}], weight, adapter: i}
      changed.set(name, {name, from, updates: [...others, update], dtype: dtype ?? storedDtype(from)})
    }
  }
  if (!full) return {tensors: [...changed.values()], warnings: [...warnings]}
  const copies = [...base.values()].map((from) => changed.get(from.name) ?? copied(from, dtype))
  const added = [...changed.values()].filter(({name}) => !base.has(name))
  return {tensors: [...copies, ...added], warnings: [...warnings]}
}

const copied = (from: TensorEntry, dtype: MergeChoices['dtype']): PlannedTensor => ({
  name: from.name,
  from,
  updates: [],
  dtype: dtype !== undefined && isWidened(storedDtype(from)) ? dtype : storedDtype(from),
})

/** The dtype of a tensor in safetensors files; those of GGUF files have no blocks there. */
export const storedDtype = ({dtype}: TensorEntry): string => (isBlockDtype(dtype) ? 'F16' : dtype)

interface Place {
  name: string
  from: TensorEntry
  firstRow?: number
  warning?: string
}

/** The tensor that a delta is merged into: its target, or for the head, the tensor that serving updates. */
function placeOf({target, b}: LoraDelta, base: TensorMap, untie: boolean): Place {
  const place = isHead(target) ? headPlace(target, base, untie) : undefined
  if (place !== undefined) return place
  const from = base.get(target)
  if (from !== undefined) return {name: target, from}
  const part = placeInFused(target, b.shape[0] ?? 0, base)
  if (part !== undefined) return {name: part.from.name, ...part}
  throw new SvcError('tensor_missing', {tensor: target, files: [...new Set([...base.values()].map(({file}) => file))]})
}

/**
 * For a model with a separate head, only the head is updated. A tied head is the embedding, so both change unless `untie`
 * writes a separate head.
 */
function headPlace(target: string, base: TensorMap, untie: boolean): Place | undefined {
  const head = base.get(headName)
  if (head !== undefined) {
    const warning = `The update of the output head is merged into ${headName}, although the manifest names ${target}.`
    return {name: headName, from: head, ...(target === headName ? {} : {warning})}
  }
  const from = base.get(target) ?? [...base.values()].find(({name}) => isHead(name))
  if (from === undefined) return undefined
  if (untie) return {name: headName, from}
  const warning = `${from.name} is both output head and embedding, and both change; --untie writes a separate head.`
  return {name: from.name, from, warning}
}
