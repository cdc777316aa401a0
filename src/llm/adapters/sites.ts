import {SvcError} from '../../errors/index.js'
import {type Adapter, type LoraDelta, requirePairFits, type TensorMap} from '../../weights/index.js'
import {attentionProjections, type DecoderSpec, inputProjections} from '../spec.js'

/** Projections of equal role and shape, one per layer, whose updates are stored together. */
export interface SiteGroup {
  /** Such as `gate.4864x896`. */
  name: string
  /** `[out, in]` */
  shape: readonly [out: number, input: number]
  /** Names of the base tensors that an update of each site may have. */
  sites: readonly (readonly string[])[]
  /** Whether its site is the output head. */
  isHead: boolean
}

/** The update of one site. */
export interface SiteDelta {
  group: SiteGroup
  /** Index in the sites of the group. */
  site: number
  delta: LoraDelta
}

/** Name of the group of a projection. */
export const groupName = (role: string, [out, input]: readonly [number, number]): string => `${role}.${out}x${input}`

/** The projections of a decoder that an adapter can update, and its head, in the order of the layers. */
export function siteGroups(spec: DecoderSpec): SiteGroup[] {
  const {hiddenSize, vocabSize, layers, tensors} = spec
  const groups = new Map<string, SiteGroup & {sites: (readonly string[])[]}>()
  const add = (role: string, shape: readonly [number, number], ...targets: string[]) => {
    const name = groupName(role, shape)
    const group = groups.get(name) ?? {name, shape, sites: [], isHead: role === 'head'}
    group.sites.push(targets)
    groups.set(name, group)
  }
  for (const {attention, recurrent, mlp} of layers) {
    const mixer = attention === undefined ? recurrent.projections : attentionProjections(attention, hiddenSize)
    for (const {role, shape, name} of mixer) add(role, shape, name)
    // Routed experts have no adapters: each would need memory for every expert.
    for (const {gate, up, down} of mlp.routing === undefined ? mlp.experts : []) {
      add('gate', [mlp.intermediateSize, hiddenSize], gate)
      add('up', [mlp.intermediateSize, hiddenSize], up)
      add('down', [hiddenSize, mlp.intermediateSize], down)
    }
  }
  for (const {role, shape, name} of inputProjections(spec)) add(role, shape, name)
  add('head', [vocabSize, hiddenSize], tensors.head, tensors.embedding, 'lm_head.weight')
  return [...groups.values()]
}

/**
 * Finds the sites that an adapter updates, and checks the shapes of its tensors.
 * @param tensors those of the model
 * @throws adapter_mismatch; adapter_unsupported for an update of routed experts; tensor_missing if the model does not have or use a weight that it updates
 */
export function sitesOf(groups: readonly SiteGroup[], {file, deltas}: Adapter, tensors: TensorMap): SiteDelta[] {
  const remaining = new Map(deltas.map((delta) => [delta.target, delta]))
  const found: SiteDelta[] = []
  for (const group of groups)
    for (const [site, targets] of group.sites.entries()) {
      const target = targets.find((name) => remaining.has(name))
      const delta = target === undefined ? undefined : remaining.get(target)
      if (target === undefined || delta === undefined) continue
      remaining.delete(target)
      requirePairFits(delta, group.shape)
      found.push({group, site, delta})
    }
  const [unused] = remaining.values()
  if (unused === undefined) return found
  if (tensors.has(unused.target) && /\.mlp\.(experts\.\d+\.\w+|gate)\.weight$/.test(unused.target))
    throw new SvcError('adapter_unsupported', {file, key: 'target_modules', value: unused.target, isKnown: true})
  const files = [...new Set([...tensors.values()].map(({file}) => file))]
  throw new SvcError('tensor_missing', {tensor: unused.target, files})
}
