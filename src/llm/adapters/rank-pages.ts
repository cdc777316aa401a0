import {type Tensor, tensor} from '../../onnx/index.js'
import type {SiteGroup} from './sites.js'

/** Pages of a new pool; the first one is zero. */
const firstPages = 16

/**
 * Memory for the updates of the sites of one group, in pages of one rank. A page has a row of A `[in]` and a column of B
 * `[out]` per site. So any number of adapters of any rank share two tensors, and no adapter is ever moved.
 *
 * Page 0 is zero: it stands for ranks that a sequence does not have.
 */
export class RankPages {
  readonly #group: SiteGroup
  #count = 1
  #free: number[] = []
  #capacity = 0
  #down = new Float32Array()
  #up = new Float32Array()
  #tensors: {down: Tensor; up: Tensor} | undefined

  constructor(group: SiteGroup) {
    this.#group = group
    this.#grow(1)
  }

  /** Size of a page, bytes. */
  get pageBytes(): number {
    const {shape, sites} = this.#group
    return sites.length * (shape[0] + shape[1]) * Float32Array.BYTES_PER_ELEMENT
  }

  /** The pages as tensors `[pages * sites, in]` and `[pages * sites, out]`. */
  get tensors(): {down: Tensor; up: Tensor} {
    const {shape, sites} = this.#group
    const rows = this.#capacity * sites.length
    this.#tensors ??= {down: tensor(this.#down, [rows, shape[1]]), up: tensor(this.#up, [rows, shape[0]])}
    return this.#tensors
  }

  /** Reserves one page per rank. */
  reserve(rank: number): number[] {
    this.#grow(this.#count + Math.max(0, rank - this.#free.length))
    return Array.from({length: rank}, () => this.#free.pop() ?? this.#count++)
  }

  release(pages: readonly number[]): void {
    this.#free.push(...pages)
  }

  /** Row of a site in a page. Row 0 is zero. */
  row(page: number, site: number): number {
    return page * this.#group.sites.length + site
  }

  /** Stores `scale * up down` with `down` `[rank, in]` and `up` `[out, rank]`. */
  write(pages: readonly number[], site: number, down: Float32Array, up: Float32Array, scale: number): void {
    const [out, input] = this.#group.shape
    const rank = pages.length
    for (const [k, page] of pages.entries()) {
      const row = this.row(page, site)
      this.#down.set(down.subarray(k * input, (k + 1) * input), row * input)
      const start = row * out
      for (let i = 0, from = k; i < out; i++, from += rank) this.#up[start + i] = scale * up[from]!
    }
  }

  #grow(pages: number): void {
    if (pages <= this.#capacity) return
    const capacity = Math.max(firstPages, 2 ** Math.ceil(Math.log2(pages)))
    const {shape, sites} = this.#group
    const grown = (old: Float32Array, size: number) => {
      const data = new Float32Array(capacity * sites.length * size)
      data.set(old)
      return data
    }
    this.#down = grown(this.#down, shape[1])
    this.#up = grown(this.#up, shape[0])
    this.#capacity = capacity
    this.#tensors = undefined
  }
}
