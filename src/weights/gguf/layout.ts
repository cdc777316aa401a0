import {elements, type TensorEntry} from '../safetensors.js'
import {alternatingRows, type StoredOrder} from '../stored-order.js'
import type {RowLayout} from '../weight-rows.js'
import type {Architecture} from './architectures.js'
import {isDecayLog, isKernel, isNorm, isRotated, isVector} from './names.js'

/** Sizes of heads, on which the layout of a file depends. */
export interface HeadSizes {
  headDim: number
  /** Of Gated DeltaNet. */
  delta?: {keyHeads: number; keyDim: number; valueHeads: number; valueDim: number} | undefined
  /** Groups of Mamba 2. */
  groups?: number | undefined
}

/** How llama.cpp has a tensor, by its name in transformers. */
export function layoutOf(name: string, {alternates, normOffset}: Architecture, sizes: HeadSizes): RowLayout {
  if (isDecayLog(name)) return {isNegativeExp: true, ...valueOrder(name, sizes)}
  if (alternates && isRotated(name)) return {order: alternatingRows(sizes.headDim)}
  if (normOffset !== undefined && isNorm(name)) return {surplus: normOffset}
  return valueOrder(name, sizes)
}

/** The order of the heads of values of Gated DeltaNet: the first ones of all keys, then the second ones, and so on. */
function valueOrder(name: string, {delta}: HeadSizes): {order?: StoredOrder} {
  const [, part = ''] = /\.linear_attn\.(\w+?)(\.weight)?$/.exec(name) ?? []
  if (delta === undefined || delta.keyHeads === delta.valueHeads || !Object.hasOwn(valueRows, part)) return {}
  const {keyHeads, keyDim, valueHeads, valueDim} = delta
  const kind = valueRows[part]
  return {
    order: {
      axis: kind === 'columns' ? 'columns' : 'rows',
      skip: kind === 'after keys' ? 2 * keyHeads * keyDim : 0,
      outer: valueHeads / keyHeads,
      inner: keyHeads,
      unit: kind === 'heads' ? 1 : valueDim,
    },
  }
}

/** The tensors whose rows or columns belong to heads of values: with one row per head, or one per value. */
const valueRows: Readonly<Record<string, 'heads' | 'values' | 'after keys' | 'columns'>> = {
  in_proj_qkv: 'after keys',
  conv1d: 'after keys',
  in_proj_z: 'values',
  in_proj_a: 'heads',
  in_proj_b: 'heads',
  A_log: 'heads',
  dt_bias: 'heads',
  out_proj: 'columns',
}

/** The shape in transformers of a tensor in a file. */
export function publishedShape({name, shape}: TensorEntry): readonly number[] {
  const [channels = 0, width = 0] = shape
  if (isDecayLog(name) || isVector(name)) return [elements(shape)]
  return isKernel(name) ? [channels, 1, width] : shape
}

/** The shape in a file of a tensor of transformers. */
export function storedShape(name: string, shape: readonly number[], {groups = 1}: HeadSizes): readonly number[] {
  const [size = 0] = shape
  if (isKernel(name)) return shape.filter((_, i) => i !== 1)
  if (/\.mamba\.(A_log|D)$/.test(name)) return [size, 1]
  return /\.mamba\.norm\.weight$/.test(name) ? [groups, size / groups] : shape
}
