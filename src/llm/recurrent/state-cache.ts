import {type Tensor, tensor} from '../../onnx/index.js'
import {type StateTensor, stateSize} from './block.js'

/** The states of a sequence after some of its positions. They are never changed. */
export interface Checkpoint {
  length: number
  states: readonly Float32Array[]
}

/** The last checkpoint of at most some positions, in a list ordered by length. */
export const lastWithin = (checkpoints: readonly Checkpoint[], max: number): Checkpoint | undefined =>
  checkpoints.findLast(({length}) => length <= max)

interface Sequence {
  /** Positions that its states have seen. */
  length: number
  /** Saved states, ordered by length. */
  kept: readonly Checkpoint[]
  /** States before a run that may be undone. */
  held: Checkpoint | undefined
}

/**
 * States of the recurrent layers of several sequences, `[slots, ...shape]` each. Slots are contiguous, as in `KvCache`.
 *
 * States cannot be cut to fewer positions. So copies of them, checkpoints, are kept on the way, to which a sequence can be
 * returned, and with which another one can begin.
 */
export class StateCache {
  readonly #tensors: readonly StateTensor[]
  readonly #interval: number
  readonly #sequences: Sequence[] = []
  #slots = 0
  #slabs: Float32Array[]

  /** @param interval least number of positions between checkpoints that are kept regularly */
  constructor(tensors: readonly StateTensor[], interval: number) {
    this.#tensors = tensors
    this.#interval = interval
    this.#slabs = tensors.map(() => new Float32Array(0))
  }

  /** Number of positions that the states of a sequence have seen. */
  length(slot: number): number {
    return this.#at(slot).length
  }

  /** Must be called after a run: the graph has written the states. */
  advance(slot: number, length: number): void {
    this.#at(slot).length = length
  }

  /** Adds a sequence without positions. */
  add(): void {
    this.#sequences.push({length: 0, kept: [], held: undefined})
    if (this.#sequences.length > this.#slots) this.#grow(2 ** Math.ceil(Math.log2(this.#sequences.length)))
    // The memory may have the states of an earlier sequence.
    for (const rows of this.#rows(this.#sequences.length - 1)) rows.fill(0)
  }

  /** Removes the last sequence; frees the memory if it was the only one. */
  pop(): void {
    this.#sequences.pop()
    if (this.#sequences.length > 0) return
    this.#slots = 0
    this.#slabs = this.#tensors.map(() => new Float32Array(0))
  }

  /** The largest number of positions up to `max` whose states are known. */
  known(slot: number, max: number): number {
    const {length, kept} = this.#at(slot)
    return length <= max ? length : (lastWithin(kept, max)?.length ?? 0)
  }

  /** Copies the first positions of a sequence, whose states are known, to another slot. */
  copy(from: number, to: number, length: number): void {
    if (from === to) return
    const {kept, length: all} = this.#at(from)
    this.#set(to, length === all ? this.#rows(from) : (lastWithin(kept, length)?.states ?? []), {length, kept})
  }

  /** The kept checkpoints, and a new one of the states now. */
  save(slot: number): Checkpoint[] {
    const {length, kept} = this.#at(slot)
    return lastWithin(kept, length)?.length === length ? [...kept] : [...kept, this.#copyOf(slot)]
  }

  /** Fills a slot with the states of the first positions of a saved sequence, of which there is a checkpoint. */
  restore(slot: number, kept: readonly Checkpoint[], length: number): void {
    this.#set(slot, lastWithin(kept, length)?.states ?? [], {length, kept})
  }

  /** Size of what `save` returns, bytes. */
  bytesOf(slot: number): number {
    const {length, kept} = this.#at(slot)
    const isKept = lastWithin(kept, length)?.length === length
    const perCheckpoint = this.#tensors.reduce((sum, state) => sum + stateSize(state), 0)
    return Float32Array.BYTES_PER_ELEMENT * perCheckpoint * (kept.length + (isKept ? 0 : 1))
  }

  /** Keeps a checkpoint, if it is wanted or the last one is far enough. */
  keep(slot: number, isWanted: boolean): void {
    const sequence = this.#at(slot)
    const last = sequence.kept.at(-1)?.length ?? 0
    const distance = sequence.length - last
    if (distance >= this.#interval || (isWanted && distance > 0)) sequence.kept = [...sequence.kept, this.#copyOf(slot)]
  }

  /** Remembers the states before a run that may be undone. */
  hold(slot: number): void {
    this.#at(slot).held = this.#copyOf(slot)
  }

  /**
   * Returns to the last known states of at most `max` positions, if there are more.
   * @returns the number of positions
   */
  settle(slot: number, max: number): number {
    const {length, kept, held} = this.#at(slot)
    this.#at(slot).held = undefined
    if (length <= max) return length
    const checkpoint = held !== undefined && held.length <= max ? held : lastWithin(kept, max)
    this.#set(slot, checkpoint?.states ?? [], {length: checkpoint?.length ?? 0, kept})
    return this.length(slot)
  }

  /** Tensors over `count` slots from `first`, by name, used both as past inputs and present outputs. */
  tensors(first: number, count: number): {name: string; tensor: Tensor}[] {
    return this.#tensors.map((state, i) => {
      const size = stateSize(state)
      const rows = (this.#slabs[i] as Float32Array).subarray(first * size, (first + count) * size)
      return {name: state.name, tensor: tensor(rows, [count, ...state.shape])}
    })
  }

  #at(slot: number): Sequence {
    return this.#sequences[slot] as Sequence
  }

  /** The memory of the states of a slot. */
  #rows(slot: number): Float32Array[] {
    return this.#tensors.map((state, i) => {
      const size = stateSize(state)
      return (this.#slabs[i] as Float32Array).subarray(slot * size, (slot + 1) * size)
    })
  }

  #copyOf(slot: number): Checkpoint {
    return {length: this.length(slot), states: this.#rows(slot).map((rows) => rows.slice())}
  }

  /** @param states empty for zeros */
  #set(slot: number, states: readonly Float32Array[], {length, kept}: Pick<Sequence, 'length' | 'kept'>): void {
    for (const [i, rows] of this.#rows(slot).entries()) {
      const state = states[i]
      if (state === undefined) rows.fill(0)
      else rows.set(state)
    }
    this.#sequences[slot] = {length, kept: kept.filter((each) => each.length <= length), held: undefined}
  }

  #grow(slots: number): void {
    this.#slabs = this.#tensors.map((state, i) => {
      const data = new Float32Array(slots * stateSize(state))
      data.set(this.#slabs[i] as Float32Array)
      return data
    })
    this.#slots = slots
  }
}
