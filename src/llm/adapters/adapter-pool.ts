import {type Tensor, tensor} from '../../onnx/index.js'
import {type Adapter, readTensorFloat32, type TensorMap, withPartsUpdated} from '../../weights/index.js'
import type {DecoderSpec} from '../spec.js'
import {RankPages} from './rank-pages.js'
import {type SiteDelta, type SiteGroup, siteGroups, sitesOf} from './sites.js'

/** An adapter whose weights are in memory. */
export interface PooledAdapter {
  /** Its share of the memory. */
  readonly bytes: number
  /** By name of the group. */
  readonly updates: ReadonlyMap<string, GroupUpdate>
}

interface GroupUpdate {
  pages: readonly number[]
  /** The sites that it updates; the others read zeros. */
  sites: ReadonlySet<number>
}

/** The adapter of each sequence; undefined for none. */
type Batch = readonly (PooledAdapter | undefined)[]

const isSame = (a: Batch, b: Batch) => a.length === b.length && a.every((adapter, i) => adapter === b[i])

/** Ranks of a batch are rounded up, so that the runtime plans its memory for few shapes. */
const rankStep = 8
/** Longest work on weights between two messages of the thread, ms. */
const sliceMs = 10

/**
 * The weights of adapters, which a graph reads as inputs, so that adapters come and go while it runs. Each sequence of a
 * batch has the rows of its own adapter only, in a product of its own: its result does not depend on the others. It would
 * with one product for the ranks of all adapters, where other columns change the order of the sum.
 */
export class AdapterPool {
  readonly groups: readonly SiteGroup[]
  readonly #spec: DecoderSpec
  readonly #tensors: TensorMap
  readonly #pages: ReadonlyMap<string, RankPages>
  #last: {batch: Batch; heads: Batch; indexes: Readonly<Record<string, Tensor>>} | undefined

  constructor(spec: DecoderSpec, tensors: TensorMap) {
    this.#spec = spec
    this.#tensors = tensors
    this.groups = siteGroups(spec)
    this.#pages = new Map(this.groups.map((group) => [group.name, new RankPages(group)]))
  }

  /** Memory of an adapter, bytes. @throws what `sitesOf` throws */
  bytesOf(adapter: Adapter): number {
    const ranks = this.#ranksOf(adapter)
    return [...ranks].reduce((sum, [name, rank]) => sum + rank * (this.#pages.get(name)?.pageBytes ?? 0), 0)
  }

  /**
   * Reads the weights of an adapter. The thread answers other messages meanwhile.
   * @throws what `sitesOf` and `readTensorFloat32` throw
   */
  async load(adapter: Adapter): Promise<PooledAdapter> {
    const found = this.#sitesOf(adapter)
    const bytes = this.bytesOf(adapter)
    const values = await Promise.all(
      found.map(async ({delta: {a, b}}) => ({down: await readTensorFloat32(a), up: await readTensorFloat32(b)})),
    )
    const updates = new Map<string, GroupUpdate & {sites: Set<number>}>()
    let started = performance.now()
    for (const [i, {group, site, delta}] of found.entries()) {
      const pages = this.#pagesOf(group)
      const update = updates.get(group.name) ?? {pages: pages.reserve(delta.a.shape[0] as number), sites: new Set()}
      updates.set(group.name, update)
      update.sites.add(site)
      const {down, up} = values[i] as (typeof values)[number]
      pages.write(update.pages, site, down, up, delta.scale)
      if (performance.now() - started < sliceMs) continue
      await new Promise((resolve) => setImmediate(resolve))
      started = performance.now()
    }
    return {bytes, updates}
  }

  /** Frees the memory of an adapter that no later run uses. */
  release({updates}: PooledAdapter): void {
    for (const [name, {pages}] of updates) this.#pages.get(name)?.release(pages)
    this.#last = undefined
  }

  /**
   * The inputs of a run.
   * @param batch the adapter of each sequence
   * @param heads those of equal parts of the rows of the head
   */
  feeds(batch: Batch, heads: Batch = batch): Readonly<Record<string, Tensor>> {
    const feeds: Record<string, Tensor> = {}
    for (const [name, pages] of this.#pages) {
      const {down, up} = pages.tensors
      feeds[inputNames.down(name)] = down
      feeds[inputNames.up(name)] = up
    }
    return {...feeds, ...this.#indexesOf(batch, heads)}
  }

  /** A batch usually has the adapters of the one before it. */
  #indexesOf(batch: Batch, heads: Batch): Readonly<Record<string, Tensor>> {
    const last = this.#last
    if (last !== undefined && isSame(batch, last.batch) && isSame(heads, last.heads)) return last.indexes
    const indexOf = (group: SiteGroup) => this.#index(group, group.isHead ? heads : batch)
    const indexes = Object.fromEntries(this.groups.map((group) => [inputNames.rows(group.name), indexOf(group)]))
    this.#last = {batch: [...batch], heads: [...heads], indexes}
    return indexes
  }

  /** Rows of the pages for each site, sequence and rank: `[sites, batch, rank]`. */
  #index(group: SiteGroup, batch: Batch): Tensor {
    const updates = batch.map((adapter) => adapter?.updates.get(group.name))
    const most = Math.max(...updates.map((update) => update?.pages.length ?? 0))
    const rank = Math.ceil(most / rankStep) * rankStep
    const pages = this.#pagesOf(group)
    const rows = new Int32Array(group.sites.length * batch.length * rank)
    for (const [i, update] of updates.entries())
      for (const site of update?.sites ?? [])
        for (const [k, page] of update?.pages.entries() ?? [])
          rows[(site * batch.length + i) * rank + k] = pages.row(page, site)
    return tensor(rows, [group.sites.length, batch.length, rank])
  }

  #ranksOf(adapter: Adapter): Map<string, number> {
    return new Map(this.#sitesOf(adapter).map(({group, delta}) => [group.name, delta.a.shape[0] as number]))
  }

  #sitesOf(adapter: Adapter): SiteDelta[] {
    return sitesOf(this.groups, withPartsUpdated(adapter, this.#spec.fused), this.#tensors)
  }

  #pagesOf({name}: SiteGroup): RankPages {
    return this.#pages.get(name) as RankPages
  }
}

/** Names of the graph inputs of a group. */
export const inputNames = {
  down: (group: string) => `adapter_down.${group}`,
  up: (group: string) => `adapter_up.${group}`,
  rows: (group: string) => `adapter_rows.${group}`,
} as const
