import type {Tensor} from '../onnx/index.js'
import {type CacheLayer, KvCache, type KvState} from './kv-cache.js'
import {type StateTensor, stateSize} from './recurrent/block.js'
import {type Checkpoint, lastWithin, StateCache} from './recurrent/state-cache.js'
import type {AttentionSpec, DecoderSpec} from './spec.js'

/** What a decoder keeps of each sequence. */
export interface CacheShape {
  /** Keys and values, by layer. */
  layers: readonly CacheLayer[]
  /** States of recurrent layers. Their names are unique. */
  states: readonly StateTensor[]
}

/** What is saved of the first positions of a sequence. */
export interface SequenceState extends KvState {
  /**
   * States of recurrent layers, ordered by length: the last one after all positions. Undefined without such layers.
   */
  checkpoints?: readonly Checkpoint[]
}

/** The layers that have keys and values, with their numbers. */
const cachedLayers = ({layers}: DecoderSpec): {layer: number; attention: AttentionSpec}[] =>
  layers.flatMap(({attention}, layer) =>
    attention === undefined || attention.source !== undefined ? [] : [{layer, attention}],
  )

export const cacheShapeOf = (spec: DecoderSpec): CacheShape => ({
  layers: cachedLayers(spec).map(({attention: {kvHeads, headDim}}) => ({kvHeads, headDim})),
  states: spec.layers.flatMap(({recurrent}, i) =>
    (recurrent?.states ?? []).map(({name, shape}) => ({name: `${i}.${name}`, shape})),
  ),
})

const floatBytes = Float32Array.BYTES_PER_ELEMENT

/** Size of the states of one sequence, bytes. */
const stateBytes = ({states}: CacheShape): number =>
  floatBytes * states.reduce((sum, state) => sum + stateSize(state), 0)

/** Size of the keys and values of a position, bytes. */
const positionBytes = ({layers}: CacheShape): number =>
  2 * floatBytes * layers.reduce((sum, {kvHeads, headDim}) => sum + kvHeads * headDim, 0)

/** Size of what is kept of a sequence of some positions, without checkpoints, bytes. */
export const cacheBytes = (shape: CacheShape, positions: number): number =>
  positions * positionBytes(shape) + stateBytes(shape)

/** Limits of the number of positions between checkpoints, and the largest part that they are of keys and values. */
const [minInterval, maxInterval] = [256, 2048]
const checkpointShare = 0.5

function intervalOf(shape: CacheShape): number {
  const interval = Math.ceil(stateBytes(shape) / (checkpointShare * positionBytes(shape)))
  return Math.min(maxInterval, Math.max(minInterval, interval))
}

/** Size of the checkpoints that are kept regularly of a sequence of some positions, bytes. */
export const keptBytes = (shape: CacheShape, positions: number): number =>
  Math.floor(positions / intervalOf(shape)) * stateBytes(shape)

/** The number of first positions of a saved sequence, at most `max`, with which another one can begin. */
export function usableLength({length, checkpoints}: SequenceState, max: number): number {
  const available = Math.min(length, max)
  return checkpoints === undefined ? available : (lastWithin(checkpoints, available)?.length ?? 0)
}

/**
 * Keys, values and states of several sequences. Keys and values can be cut at any position, states only at checkpoints.
 * See `KvCache` and `StateCache`.
 */
export class SequenceCache {
  readonly #kv: KvCache
  /** Undefined without recurrent layers. */
  readonly #states: StateCache | undefined
  readonly #layerNames: readonly number[]
  /** For each of these, the layers that use its keys and values. */
  readonly #users: readonly (readonly number[])[]

  constructor(spec: DecoderSpec, contextLength: number) {
    const shape = cacheShapeOf(spec)
    this.#kv = new KvCache(shape.layers, contextLength)
    this.#layerNames = cachedLayers(spec).map(({layer}) => layer)
    this.#users = this.#layerNames.map((layer) =>
      spec.layers.flatMap(({attention}, user) => (attention?.source === layer ? [user] : [])),
    )
    if (shape.states.length > 0) this.#states = new StateCache(shape.states, intervalOf(shape))
  }

  /** Number of sequences. */
  get size(): number {
    return this.#kv.size
  }

  get capacity(): number {
    return this.#kv.capacity
  }

  /** Whether sequences cannot be cut at any position. */
  get isRecurrent(): boolean {
    return this.#states !== undefined
  }

  /** Number of filled positions of a sequence. */
  length(slot: number): number {
    return this.#kv.length(slot)
  }

  /** Adds a sequence and returns its slot. */
  add(): number {
    this.#states?.add()
    return this.#kv.add()
  }

  /** Removes the last sequence; frees the memory if it was the only one. */
  pop(): void {
    this.#states?.pop()
    this.#kv.pop()
  }

  /** Provides memory for a number of positions of a sequence. */
  reserve(slot: number, length: number): void {
    this.#kv.reserve(slot, length)
  }

  /** Must be called after a run with the new number of positions. */
  advance(slot: number, length: number): void {
    this.#kv.setLength(slot, length)
    this.#states?.advance(slot, length)
  }

  /** Remembers the states before a run of which not all positions may be right. */
  hold(slot: number): void {
    this.#states?.hold(slot)
  }

  /** Changes the number of right positions of a sequence after a run. `settle` must follow before its next run. */
  setLength(slot: number, length: number): void {
    this.#kv.setLength(slot, length)
  }

  /** Drops the wrong positions of a run. If there are any, the states are those before it, and so is the length. */
  settle(slot: number): void {
    if (this.#states !== undefined) this.#kv.setLength(slot, this.#states.settle(slot, this.#kv.length(slot)))
  }

  /** Keeps the states of a sequence, so that others can begin with its positions. */
  keep(slot: number, isWanted: boolean): void {
    this.#states?.keep(slot, isWanted)
  }

  /** The number of first positions of a sequence, at most `max`, with which another one can begin. */
  usable(slot: number, max: number): number {
    const available = Math.min(max, this.length(slot))
    return this.#states?.known(slot, available) ?? available
  }

  /** Copies the first positions of a sequence, as many as are usable, to another slot, overwriting that one. */
  copy(from: number, to: number, length = this.length(from)): void {
    this.#kv.copy(from, to, length)
    this.#states?.copy(from, to, length)
  }

  /** Size of a copy of a sequence, bytes. */
  bytesOf(slot: number): number {
    return this.#kv.bytesOf(this.length(slot)) + (this.#states?.bytesOf(slot) ?? 0)
  }

  /** A copy of the filled positions of a sequence. */
  save(slot: number): SequenceState {
    const saved = this.#kv.save(slot)
    if (this.#states === undefined) return saved
    return {...saved, checkpoints: this.#states.save(slot), bytes: this.bytesOf(slot)}
  }

  /** Fills an empty slot with the first `length` positions of a copy, as many as are usable. */
  restore(slot: number, state: SequenceState, length: number): void {
    this.#kv.restore(slot, state, length)
    this.#states?.restore(slot, state.checkpoints ?? [], length)
  }

  /**
   * Tensors of every layer over `count` slots from `first`, by name, used both as past inputs and present outputs. Layers
   * that use the keys and values of another one have them only as outputs.
   */
  tensors(first: number, count: number): {name: string; tensor: Tensor; isInput: boolean}[] {
    const keysAndValues = this.#kv.tensors(first, count).flatMap(({key, value}, i) => {
      const of = (layer: number | undefined, isInput: boolean) => [
        {name: `key.${layer}`, tensor: key, isInput},
        {name: `value.${layer}`, tensor: value, isInput},
      ]
      return [...of(this.#layerNames[i], true), ...(this.#users[i] ?? []).flatMap((user) => of(user, false))]
    })
    const states = this.#states?.tensors(first, count) ?? []
    return [...keysAndValues, ...states.map(({name, tensor}) => ({name: `state.${name}`, tensor, isInput: true}))]
  }
}
