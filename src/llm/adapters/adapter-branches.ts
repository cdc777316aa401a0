import type {GraphBuilder, Value} from '../../onnx/index.js'
import type {DecoderSpec} from '../spec.js'
import {inputNames} from './adapter-pool.js'
import {groupName, type SiteGroup, siteGroups} from './sites.js'

interface GroupInputs {
  down: Value
  up: Value
  rows: Value
  sites: number
}

/**
 * Adds the updates of adapters to the projections of a graph. Inputs for each group of projections of a role, of which
 * there are `sites`, one per layer:
 *
 * - `adapter_down.GROUP` float32 `[pages * sites, in]` and `adapter_up.GROUP` `[pages * sites, out]`
 * - `adapter_rows.GROUP` int32 `[sites, batch, rank]`, the rows of these for each sequence
 */
export class AdapterBranches {
  readonly #graph: GraphBuilder
  readonly #groups: ReadonlyMap<string, GroupInputs>
  /** Number of sites of each group that have been added. */
  readonly #added = new Map<string, number>()

  constructor(graph: GraphBuilder, spec: DecoderSpec) {
    this.#graph = graph
    this.#groups = new Map(siteGroups(spec).map((group) => [group.name, inputsOf(graph, group)]))
  }

  /**
   * y plus the updates of the next site of a role, for each sequence its own. Must be called in the order of the layers.
   * @param x `[batch, time, in]`
   * @param y `[batch, time, out]`
   */
  add(y: Value, x: Value, role: string, shape: readonly [number, number]): Value {
    return this.#graph.node('Add', [y, this.#update(x, role, shape)])
  }

  /**
   * The same for rows of which each sequence has the same number.
   * @param x `[rows, in]`
   * @param y `[rows, out]`
   */
  addToRows(y: Value, x: Value, role: string, shape: readonly [number, number]): Value {
    const graph = this.#graph
    const {rows} = this.#inputs(role, shape)
    const batch = graph.node('Shape', [rows], {start: 1, end: 2})
    const dims = graph.node('Concat', [batch, graph.integers(-1, shape[1])], {axis: 0})
    const update = this.#update(graph.node('Reshape', [x, dims]), role, shape)
    return graph.node('Add', [y, graph.node('Reshape', [update, graph.integers(-1, shape[0])])])
  }

  #update(x: Value, role: string, shape: readonly [number, number]): Value {
    const graph = this.#graph
    const name = groupName(role, shape)
    const {down, up, rows, sites} = this.#inputs(role, shape)
    const site = this.#added.get(name) ?? 0
    if (site === sites) throw new Error(`The group ${name} has only ${sites} sites.`)
    this.#added.set(name, site + 1)
    const own = graph.node('Gather', [rows, graph.integer(site)], {axis: 0})
    const part = (of: Value) => graph.node('Gather', [of, own], {axis: 0})
    const inner = graph.contrib('FusedMatMul', [x, part(down)], {transB: 1})
    return graph.node('MatMul', [inner, part(up)])
  }

  #inputs(role: string, shape: readonly [number, number]): GroupInputs {
    return this.#groups.get(groupName(role, shape)) as GroupInputs
  }
}

function inputsOf(graph: GraphBuilder, {name, shape, sites}: SiteGroup): GroupInputs {
  return {
    down: graph.input(inputNames.down(name), 'float32', [`pages.${name}`, shape[1]]),
    up: graph.input(inputNames.up(name), 'float32', [`pages.${name}`, shape[0]]),
    rows: graph.input(inputNames.rows(name), 'int32', [sites.length, 'batch', `rank.${name}`]),
    sites: sites.length,
  }
}
