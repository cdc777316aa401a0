import {type Adapter, readTensorsFloat32, type TensorMap, withPartsUpdated} from '../../weights/index.js'
import type {DecoderSpec} from '../spec.js'
import {
  aloneFeeds,
  type Batch,
  BatchWeights,
  copyBytes,
  type Feeds,
  type PooledAdapter,
  rankBytes,
  roundedRank,
  type SiteWeights,
  siteWeights,
} from './adapter-weights.js'
import {type SiteDelta, type SiteGroup, siteGroups, sitesOf} from './sites.js'

export type {PooledAdapter} from './adapter-weights.js'

/** Longest work on weights between two messages of the thread, ms. */
const sliceMs = 10

/**
 * The weights of adapters, which a graph reads as inputs, so that adapters come and go while it runs. Each sequence of a
 * batch has the rows of its own adapter only, in a product of its own: its result does not depend on the others. It would
 * with one product for the ranks of all adapters, where other columns change the order of the sum.
 */
export class AdapterPool {
  readonly #groups: readonly SiteGroup[]
  readonly #spec: DecoderSpec
  readonly #tensors: TensorMap
  /** Memory for copies of the weights of a batch, bytes. */
  readonly #copyBytes: number
  readonly #batch: BatchWeights
  /** For the head, whose kernels compute the row of one sequence twice. */
  readonly #twice: BatchWeights
  readonly #alone = new WeakMap<PooledAdapter, Feeds>()
  readonly #none: Feeds

  constructor(spec: DecoderSpec, tensors: TensorMap, copyBytes = Infinity) {
    this.#copyBytes = copyBytes
    this.#spec = spec
    this.#tensors = tensors
    this.#groups = siteGroups(spec)
    this.#batch = new BatchWeights(this.#groups)
    this.#twice = new BatchWeights(this.#groups.filter(({isHead}) => isHead))
    this.#none = aloneFeeds(this.#groups, undefined)
  }

  /** Memory of an adapter, bytes. @throws what `sitesOf` throws */
  bytesOf(adapter: Adapter): number {
    return this.#sitesOf(adapter).reduce(
      (sum, {group, delta}) => sum + roundedRank(delta.a.shape[0] as number) * rankBytes(group),
      0,
    )
  }

  /**
   * Reads the weights of an adapter. The thread answers other messages meanwhile.
   * @throws what `sitesOf` and `readTensorsFloat32` throw
   */
  async load(adapter: Adapter): Promise<PooledAdapter> {
    const found = this.#sitesOf(adapter)
    const values = await readTensorsFloat32(found.flatMap(({delta: {a, b}}) => [a, b]))
    const updates = new Map<string, Map<number, SiteWeights>>()
    let started = performance.now()
    for (const [i, {group, site, delta}] of found.entries()) {
      const sites = updates.get(group.name) ?? new Map<number, SiteWeights>()
      updates.set(group.name, sites)
      const [down, up] = values.slice(2 * i, 2 * i + 2) as [Float32Array, Float32Array]
      sites.set(site, siteWeights(group, delta.a.shape[0] as number, {down, up, scale: delta.scale}))
      if (performance.now() - started < sliceMs) continue
      await new Promise((resolve) => setImmediate(resolve))
      started = performance.now()
    }
    return {bytes: this.bytesOf(adapter), updates}
  }

  /** Forgets an adapter that no later run uses. */
  release(adapter: PooledAdapter): void {
    this.#batch.forget(adapter)
    this.#twice.forget(adapter)
  }

  /**
   * Parts of a batch to run one after the other, so that the copies of its weights fit into the memory. A part of one
   * sequence has no copies, so only the first part may be longer.
   */
  partsOf(batch: Batch): Batch[] {
    let first = batch.length
    while (first > 1 && copyBytes(this.#groups, batch.slice(0, first)) > this.#copyBytes) first--
    return [batch.slice(0, first), ...batch.slice(first).map((adapter) => [adapter])]
  }

  /**
   * The inputs of a run.
   * @param batch the adapter of each sequence
   * @param isTwice whether the head computes the row of one sequence twice
   */
  feeds(batch: Batch, isTwice: boolean): Feeds {
    if (batch.length > 1) return this.#batch.feeds(batch)
    const [adapter] = batch
    const alone = this.#aloneFeeds(adapter)
    return isTwice ? {...alone, ...this.#twice.feeds([adapter, adapter])} : alone
  }

  #aloneFeeds(adapter: PooledAdapter | undefined): Feeds {
    if (adapter === undefined) return this.#none
    const feeds = this.#alone.get(adapter) ?? aloneFeeds(this.#groups, adapter)
    this.#alone.set(adapter, feeds)
    return feeds
  }

  #sitesOf(adapter: Adapter): SiteDelta[] {
    return sitesOf(this.#groups, withPartsUpdated(adapter, this.#spec.fused), this.#tensors)
  }
}
