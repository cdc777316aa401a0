import {meshNodeSettings, meshSettings, resolveSettings, type SettingSources} from '../../config/index.js'
import type {CapabilityHints, NodeFacts} from '../protocol/node.js'
import {userFile} from './home.js'
import {describeHost, type HostProbe, hostTriple, readHost} from './host.js'
import {keptNodeId, readNodeId} from './node-id.js'

/** What this machine reports of itself as a node. */
export type SelfRecord = NodeFacts & {scope_id?: string}

/**
 * What this machine reports of itself: what it is, what it advertises and what it is called. It never names a listener,
 * for a node has none.
 * @param version of the program
 * @param labels beside those of the environment and of the file, and before them
 * @throws file_unreadable where no node id is set and none can be kept
 */
export async function selfRecord(
  sources: SettingSources,
  version: string,
  labels: readonly string[] = [],
): Promise<SelfRecord> {
  return {id: await nodeId(sources), ...selfFacts(sources, version, labels)}
}

/** The same but for the id. */
export function selfFacts(
  sources: SettingSources,
  version: string,
  labels: readonly string[] = [],
): Omit<SelfRecord, 'id'> {
  const {values: mesh} = resolveSettings(meshSettings, sources)
  const host = readHost()
  const probe = describeHost(mesh, sources.env, host)
  const {visibility} = resolveSettings(meshNodeSettings, sources).values
  const all = distinct([...labels, ...probe.labels, ...mesh.labels])
  const pool = all.find((label) => label.startsWith(poolKey))?.slice(poolKey.length)
  return {
    version,
    capabilities: capabilitiesOf({...probe, labels: all}),
    ...(mesh.scopeId === undefined ? {} : {scope_id: mesh.scopeId}),
    ...(visibility === undefined ? {} : {visibility}),
    ...(pool ? {pool_id: pool} : {}),
    ...(probe.gpu_cuda ? ({gpu_inventory_source: 'advertised', gpu_truth_layer: 'layer_c_advertised'} as const) : {}),
    host_triple: hostTriple(host, process.platform),
  }
}

const poolKey = 'pool='

/** The id that is set, or else the one that this machine keeps, from now on. @throws file_unreadable */
export const nodeId = async (sources: SettingSources): Promise<string> =>
  givenNodeId(sources) ?? (await keptNodeId(nodeIdPath(sources)))

/** The id that is set, or else the one that this machine has kept before. @throws file_unreadable */
export const knownNodeId = async (sources: SettingSources): Promise<string | undefined> =>
  givenNodeId(sources) ?? (await readNodeId(nodeIdPath(sources)))

const givenNodeId = (sources: SettingSources) => resolveSettings(meshNodeSettings, sources).values.nodeId

const nodeIdPath = ({env}: SettingSources): string => userFile(env, 'mesh', 'node-id')

/** What is not there is left out, as it counts as that. */
const capabilitiesOf = ({labels, ...probe}: HostProbe): CapabilityHints => ({
  ...Object.fromEntries(Object.entries(probe).filter(([, value]) => value !== false)),
  ...(labels.length === 0 ? {} : {labels}),
})

const distinct = (labels: readonly string[]): string[] => [
  ...new Set(labels.map((label) => label.trim()).filter((label) => label !== '')),
]
