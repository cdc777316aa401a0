import {type Tensor, tensor} from '../../onnx/index.js'
import type {SiteGroup} from './sites.js'

/** Ranks are rounded up, so that kernels see few shapes and a product has complete vectors. */
const rankStep = 8

export const roundedRank = (rank: number): number => Math.ceil(rank / rankStep) * rankStep

/** Size of a rank of one site, bytes. */
export const rankBytes = ({shape: [out, input]}: SiteGroup): number => (out + input) * Float32Array.BYTES_PER_ELEMENT

/** The update of one site: `down` is A `[rank, in]`, and `up` is the transposed scale * B `[rank, out]`. */
export interface SiteWeights {
  /** Rounded up; the ranks that the adapter does not have are zero. */
  rank: number
  down: Float32Array
  up: Float32Array
}

/** @param down `[rank, in]` @param up `[out, rank]` */
export function siteWeights(
  {shape: [out, input]}: SiteGroup,
  own: number,
  {down, up, scale}: {down: Float32Array; up: Float32Array; scale: number},
): SiteWeights {
  const rank = roundedRank(own)
  const weights = {rank, down, up: new Float32Array(rank * out)}
  if (rank !== own) {
    weights.down = new Float32Array(rank * input)
    weights.down.set(down)
  }
  // In blocks, so that each line of the cache is read and written once.
  for (let first = 0; first < out; first += 16)
    for (let k = 0; k < own; k++)
      for (let i = first, end = Math.min(out, first + 16); i < end; i++)
        weights.up[k * out + i] = scale * up[i * own + k]!
  return weights
}

/** An adapter whose weights are in memory. */
export interface PooledAdapter {
  /** Its share of the memory. */
  readonly bytes: number
  /** By name of the group: the sites that it updates, by index. */
  readonly updates: ReadonlyMap<string, ReadonlyMap<number, SiteWeights>>
}

/** The adapter of each sequence; undefined for none. */
export type Batch = readonly (PooledAdapter | undefined)[]

/** Names of the graph inputs of a site. */
export const inputNames = {
  down: (group: string, site: number) => `adapter_down.${group}.${site}`,
  up: (group: string, site: number) => `adapter_up.${group}.${site}`,
} as const

export type Feeds = Readonly<Record<string, Tensor>>

/** The weights of a site for the sequences of a batch, as inputs of the graph. */
export function siteFeeds(
  {name, shape: [out, input]}: SiteGroup,
  site: number,
  rows: number,
  {rank, down, up}: SiteWeights,
): [string, Tensor][] {
  return [
    [inputNames.down(name, site), tensor(down, [rows, rank, input])],
    [inputNames.up(name, site), tensor(up, [rows, rank, out])],
  ]
}

const noWeights: SiteWeights = {rank: 0, down: new Float32Array(), up: new Float32Array()}

/** The weights of one sequence, which are not copied. */
export const aloneFeeds = (groups: readonly SiteGroup[], adapter: PooledAdapter | undefined): Feeds =>
  Object.fromEntries(
    groups.flatMap((group) =>
      group.sites.flatMap((_, site) =>
        siteFeeds(group, site, 1, adapter?.updates.get(group.name)?.get(site) ?? noWeights),
      ),
    ),
  )

/** Largest rank of a site in a batch. */
const rankOf = (batch: Batch, {name}: SiteGroup, site: number): number =>
  Math.max(0, ...batch.map((adapter) => adapter?.updates.get(name)?.get(site)?.rank ?? 0))

/** Memory of a copy of the weights of a batch, bytes. */
export function copyBytes(groups: readonly SiteGroup[], batch: Batch): number {
  const ranksOf = (group: SiteGroup) => group.sites.reduce((sum, _, site) => sum + rankOf(batch, group, site), 0)
  return groups.reduce((sum, group) => sum + batch.length * ranksOf(group) * rankBytes(group), 0)
}

/** Copies of the weights of a site for a batch, one after the other. */
interface Copies extends SiteWeights {
  /** Those whose weights are copied; null for unknown, undefined for zeros. */
  rows: (PooledAdapter | undefined | null)[]
}

/**
 * Copies of the weights of the adapters of a batch, in its order, because a product reads them from one block of memory. The
 * graph could gather them for each run, but that takes longer than the products. Only what changed is copied.
 */
export class BatchWeights {
  readonly #groups: readonly SiteGroup[]
  readonly #copies: ReadonlyMap<string, Copies[]>
  #last: {batch: Batch; feeds: Feeds} | undefined

  constructor(groups: readonly SiteGroup[]) {
    this.#groups = groups
    this.#copies = new Map(groups.map(({name, sites}) => [name, sites.map(() => ({...noWeights, rows: []}))]))
  }

  /** The inputs of a run. A batch usually has the adapters of the one before it. */
  feeds(batch: Batch): Feeds {
    const last = this.#last
    if (last?.batch.length === batch.length && batch.every((adapter, i) => adapter === last.batch[i])) return last.feeds
    const feeds = Object.fromEntries(
      this.#groups.flatMap((group) =>
        group.sites.flatMap((_, site) => siteFeeds(group, site, batch.length, this.#copy(batch, group, site))),
      ),
    )
    this.#last = {batch: [...batch], feeds}
    return feeds
  }

  /** Forgets an adapter that has left the memory, and frees the copies with the last one. */
  forget(adapter: PooledAdapter): void {
    this.#last = undefined
    for (const sites of this.#copies.values())
      for (const copies of sites) {
        for (const [i, each] of copies.rows.entries()) if (each === adapter) copies.rows[i] = null
        if (!copies.rows.some((each) => each)) Object.assign(copies, noWeights, {rows: []})
      }
  }

  #copy(batch: Batch, group: SiteGroup, site: number): SiteWeights {
    const [out, input] = group.shape
    const rank = rankOf(batch, group, site)
    if (rank === 0) return noWeights
    const copies = this.#copies.get(group.name)?.[site] as Copies
    if (copies.rank !== rank || copies.rows.length < batch.length) {
      const size = batch.length * rank
      // A larger block can be used with another rank.
      if (copies.down.length < size * input) copies.down = new Float32Array(size * input)
      if (copies.up.length < size * out) copies.up = new Float32Array(size * out)
      copies.rank = rank
      copies.rows = Array.from({length: Math.floor(copies.down.length / (rank * input))}, () => null)
    }
    for (const [i, adapter] of batch.entries()) {
      if (copies.rows[i] === adapter) continue
      const own = adapter?.updates.get(group.name)?.get(site) ?? noWeights
      write(copies.down, i * rank * input, rank * input, own.down)
      write(copies.up, i * rank * out, rank * out, own.up)
      copies.rows[i] = adapter
    }
    const part = (of: Float32Array, size: number) => of.subarray(0, batch.length * rank * size)
    return {rank, down: part(copies.down, input), up: part(copies.up, out)}
  }
}

/** Writes values and zeros after them. */
function write(target: Float32Array, start: number, length: number, values: Float32Array): void {
  target.set(values, start)
  target.fill(0, start + values.length, start + length)
}
