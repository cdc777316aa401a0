import {SvcError} from '../../errors/index.js'
import {headName, isHead, type LoraDelta} from '../adapter.js'
import {type FloatDtype, isWidened} from '../dtype.js'
import {refuseOtherThanFloats, type TensorEntry} from '../safetensors.js'
import type {TensorMap} from '../shards.js'
import type {MergeInputs} from './merge-inputs.js'

export interface PlannedTensor {
  name: string
  /** The base tensor it is made from. */
  from: TensorEntry
  /** What is added; undefined copies the base tensor. */
  delta: LoraDelta | undefined
  dtype: TensorEntry['dtype']
}

export interface MergePlan {
  tensors: readonly PlannedTensor[]
  warnings: readonly string[]
}

export interface MergeChoices {
  /** Every tensor of the base model, or those alone that the adapter changes. */
  full: boolean
  /** Undefined keeps the dtype of each base tensor. */
  dtype: FloatDtype | undefined
  /** Give a head that is tied to the embedding a tensor of its own. */
  untie: boolean
}

/**
 * Which tensors are written, and what of.
 * @throws tensor_missing, tensor_dtype, adapter_invalid
 */
export function planMerge({base, adapter, manifest}: MergeInputs, {full, dtype, untie}: MergeChoices): MergePlan {
  const warnings = manifest.unmapped.map((name) => `${name} has no base tensor in ${manifest.file} and is left out.`)
  const changed = new Map<string, PlannedTensor>()
  for (const delta of adapter.deltas) {
    const {name, from, warning} = placeOf(delta, base, untie)
    if (warning !== undefined) warnings.push(warning)
    refuseOtherThanFloats(from)
    if (changed.has(name))
      throw new SvcError('adapter_invalid', {file: adapter.file, reason: `it changes ${name} twice`})
    changed.set(name, {name, from, delta, dtype: dtype ?? from.dtype})
  }
  if (!full) return {tensors: [...changed.values()], warnings}
  const copies = [...base.values()].map((from) => changed.get(from.name) ?? copied(from, dtype))
  const added = [...changed.values()].filter(({name}) => !base.has(name))
  return {tensors: [...copies, ...added], warnings}
}

const copied = (from: TensorEntry, dtype: FloatDtype | undefined): PlannedTensor => ({
  name: from.name,
  from,
  delta: undefined,
  dtype: dtype !== undefined && isWidened(from.dtype) ? dtype : from.dtype,
})

interface Place {
  name: string
  from: TensorEntry
  warning?: string
}

/** The tensor that a delta is merged into: its target, or for the head what serving changes. */
function placeOf({target}: LoraDelta, base: TensorMap, untie: boolean): Place {
  const place = isHead(target) ? headPlace(target, base, untie) : undefined
  if (place !== undefined) return place
  const from = base.get(target)
  if (from !== undefined) return {name: target, from}
  throw new SvcError('tensor_missing', {tensor: target, files: [...new Set([...base.values()].map(({file}) => file))]})
}

/**
 * A model with a head of its own gets the change there, on the output side alone. A tied head is the embedding, so that
 * both change, unless the head is given a tensor of its own.
 */
function headPlace(target: string, base: TensorMap, untie: boolean): Place | undefined {
  const head = base.get(headName)
  if (head !== undefined) {
    const warning = `The change of the head goes into ${headName}, although the manifest names ${target}.`
    return {name: headName, from: head, ...(target === headName ? {} : {warning})}
  }
  const from = base.get(target) ?? [...base.values()].find(({name}) => isHead(name))
  if (from === undefined) return undefined
  if (untie) return {name: headName, from}
  const warning = `${from.name} is head and embedding in one, and both change; --untie gives the head a tensor of its own.`
  return {name: from.name, from, warning}
}
