import type {GraphBuilder, Value} from '../../onnx/index.js'
import type {DecoderSpec} from '../spec.js'
import {inputNames} from './adapter-weights.js'
import {groupName, type SiteGroup, siteGroups} from './sites.js'

/**
 * Adds the updates of adapters to the projections of a graph. Inputs for each projection, with the weights of the adapter of
 * each sequence:
 *
 * - `adapter_down.GROUP.SITE` float32 `[batch, rank, in]`
 * - `adapter_up.GROUP.SITE` float32 `[batch, rank, out]`
 *
 * The rank is 0 if no sequence has an update.
 */
export class AdapterBranches {
  readonly #graph: GraphBuilder
  readonly #groups: ReadonlyMap<string, SiteGroup>
  /** Number of sites of each group that have been added. */
  readonly #added = new Map<string, number>()

  constructor(graph: GraphBuilder, spec: DecoderSpec) {
    this.#graph = graph
    this.#groups = new Map(siteGroups(spec).map((group) => [group.name, group]))
  }

  /**
   * y plus the updates of the next site of a role, for each sequence its own. Must be called in the order of the layers.
   * @param x `[batch, time, in]`
   * @param y `[batch, time, out]`
   */
  add(y: Value, x: Value, role: string, shape: readonly [number, number]): Value {
    const {down, up} = this.#inputs(role, shape)
    return this.#graph.node('Add', [y, this.#update(x, down, up)])
  }

  /**
   * The same for rows of which each sequence has the same number.
   * @param x `[rows, in]`
   * @param y `[rows, out]`
   */
  addToRows(y: Value, x: Value, role: string, shape: readonly [number, number]): Value {
    const graph = this.#graph
    const {down, up} = this.#inputs(role, shape)
    const batch = graph.node('Shape', [down], {start: 0, end: 1})
    const dims = graph.node('Concat', [batch, graph.integers(-1, shape[1])], {axis: 0})
    const update = this.#update(graph.node('Reshape', [x, dims]), down, up)
    return graph.node('Add', [y, graph.node('Reshape', [update, graph.integers(-1, shape[0])])])
  }

  #update(x: Value, down: Value, up: Value): Value {
    return this.#graph.node('MatMul', [this.#graph.contrib('FusedMatMul', [x, down], {transB: 1}), up])
  }

  #inputs(role: string, shape: readonly [number, number]): {down: Value; up: Value} {
    const {name, sites, isHead} = this.#groups.get(groupName(role, shape)) as SiteGroup
    const site = this.#added.get(name) ?? 0
    if (site === sites.length) throw new Error(`The group ${name} has only ${sites.length} sites.`)
    this.#added.set(name, site + 1)
    const dims = [isHead ? 'sequences' : 'batch', `rank.${name}.${site}`]
    return {
      down: this.#graph.input(inputNames.down(name, site), 'float32', [...dims, shape[1]]),
      up: this.#graph.input(inputNames.up(name, site), 'float32', [...dims, shape[0]]),
    }
  }
}
