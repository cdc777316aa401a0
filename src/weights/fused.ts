import {SvcError} from '../errors/index.js'
import type {Adapter, LoraDelta} from './adapter.js'
import type {TensorEntry} from './safetensors.js'
import type {TensorMap} from './shards.js'

/** A matrix with the rows of several projections, one after another. */
export interface FusedMatrix {
  name: string
  parts: readonly {name: string; rows: number}[]
}

/**
 * Adds the parts of fused matrices as tensors of their own, which are ranges of the same bytes.
 * @throws tensor_shape
 */
export function withParts(tensors: TensorMap, fused: readonly FusedMatrix[]): TensorMap {
  const parts = fused.flatMap((matrix) => {
    const entry = tensors.get(matrix.name)
    if (entry === undefined) return []
    const expected = [rowsOf(matrix), ...entry.shape.slice(1)]
    if (entry.shape[0] !== expected[0])
      throw new SvcError('tensor_shape', {tensor: entry.name, file: entry.file, found: entry.shape, expected})
    return partsOf(entry, matrix)
  })
  return parts.length === 0 ? tensors : new Map([...tensors, ...parts.map((entry) => [entry.name, entry] as const)])
}

/**
 * An adapter whose updates of fused matrices are updates of their parts, with the same down projection.
 * @throws adapter_mismatch
 */
export function withPartsUpdated(adapter: Adapter, fused: readonly FusedMatrix[]): Adapter {
  const deltas = adapter.deltas.flatMap((delta) => {
    const matrix = fused.find(({name}) => name === delta.target)
    return matrix === undefined ? [delta] : updatesOfParts(delta, matrix)
  })
  return {...adapter, deltas}
}

/** The updates of the parts of a fused matrix, in their order. @throws adapter_mismatch */
export function updatesOfParts(delta: LoraDelta, matrix: FusedMatrix): LoraDelta[] {
  const {target, a, b} = delta
  const rows = rowsOf(matrix)
  if (b.shape[0] !== rows)
    throw new SvcError('adapter_mismatch', {
      tensor: b.name,
      adapter: b.shape,
      base: target,
      found: [rows, a.shape[1] ?? 0],
    })
  const named = {...matrix, parts: matrix.parts.map((part) => ({...part, name: `${b.name}.${part.name}`}))}
  return partsOf(b, named).map((part, i) => ({...delta, target: (matrix.parts[i] as {name: string}).name, b: part}))
}

/** Fused matrices of transformers of which GGUF files have the parts. */
const separated: ReadonlyMap<string, readonly string[]> = new Map([['input_linear', ['gate_proj', 'up_proj']]])

/**
 * An adapter whose updates of fused matrices that a model has only as parts are updates of these.
 * @throws adapter_mismatch
 */
export function withSeparateParts(adapter: Adapter, tensors: TensorMap): Adapter {
  const fused = adapter.deltas.flatMap(({target}): FusedMatrix[] => {
    const [, start, name = ''] = /^(.+\.)(\w+)\.weight$/.exec(target) ?? []
    if (tensors.has(target)) return []
    const parts = (separated.get(name) ?? []).flatMap((part) => tensors.get(`${start}${part}.weight`) ?? [])
    if (parts.length === 0) return []
    return [{name: target, parts: parts.map((part) => ({name: part.name, rows: part.shape[0] ?? 0}))}]
  })
  return withPartsUpdated(adapter, fused)
}

const rowsOf = ({parts}: FusedMatrix) => parts.reduce((sum, {rows}) => sum + rows, 0)

function partsOf(entry: TensorEntry, {parts}: FusedMatrix): TensorEntry[] {
  const rowBytes = entry.length / (entry.shape[0] ?? 1)
  let first = 0
  return parts.map(({name, rows}) => {
    const offset = entry.offset + first * rowBytes
    first += rows
    return {...entry, name, shape: [rows, ...entry.shape.slice(1)], offset, length: rows * rowBytes}
  })
}

/** The fused matrix of a projection, and its first row there. Keys and values have the same number of rows. */
const places: Readonly<Record<string, {matrix: string; firstRow(rows: number, total: number): number}>> = {
  q_proj: {matrix: 'qkv_proj', firstRow: () => 0},
  k_proj: {matrix: 'qkv_proj', firstRow: (rows, total) => total - 2 * rows},
  v_proj: {matrix: 'qkv_proj', firstRow: (rows, total) => total - rows},
  gate_proj: {matrix: 'gate_up_proj', firstRow: () => 0},
  up_proj: {matrix: 'gate_up_proj', firstRow: (rows, total) => total - rows},
}

/** Where the rows of a projection are, if it is a part of a fused matrix. */
export function placeInFused(
  target: string,
  rows: number,
  tensors: TensorMap,
): {from: TensorEntry; firstRow: number} | undefined {
  const [, start, part = ''] = /^(.+\.)(\w+)\.weight$/.exec(target) ?? []
  const place = Object.hasOwn(places, part) ? places[part] : undefined
  const from = place && tensors.get(`${start}${place.matrix}.weight`)
  if (place === undefined || from === undefined) return undefined
  return {from, firstRow: place.firstRow(rows, from.shape[0] ?? 0)}
}
