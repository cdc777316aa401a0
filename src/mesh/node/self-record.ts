import {meshNodeSettings, meshSettings, resolveSettings, type SettingSources} from '../../config/index.js'
import type {CapabilityHints, NodeFacts} from '../protocol/node.js'
import {knownGpus} from './gpu-probe.js'
import {userFile} from './home.js'
import {describeHost, type HostProbe, hostTriple, readHost} from './host.js'
import {readNodeId, storedNodeId} from './node-id.js'

export type SelfRecord = NodeFacts & {scope_id?: string}

/**
 * Creates the record of this machine. It contains no listener address, because nodes do not listen.
 * @param version version of the program
 * @param labels additional labels, placed before those of the environment and the file
 * @throws file_unreadable if no node id is configured and none can be stored
 */
export async function selfRecord(
  sources: SettingSources,
  version: string,
  labels: readonly string[] = [],
): Promise<SelfRecord> {
  return {id: await nodeId(sources), ...selfFacts(sources, version, labels)}
}

/** Record of this machine without its id, which may not exist yet. */
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
    ...knownGpus()?.facts,
    host_triple: hostTriple(host, process.platform),
  }
}

const poolKey = 'pool='

/** Configured id, or the stored one, which is created if needed. @throws file_unreadable */
export const nodeId = async (sources: SettingSources): Promise<string> =>
  configuredNodeId(sources) ?? (await storedNodeId(nodeIdPath(sources)))

/** Configured id, or the stored one if it exists. @throws file_unreadable */
export const knownNodeId = async (sources: SettingSources): Promise<string | undefined> =>
  configuredNodeId(sources) ?? (await readNodeId(nodeIdPath(sources)))

const configuredNodeId = (sources: SettingSources) => resolveSettings(meshNodeSettings, sources).values.nodeId

const nodeIdPath = ({env}: SettingSources): string => userFile(env, 'mesh', 'node-id')

/** Omits false flags, which the protocol treats like missing ones. */
const capabilitiesOf = ({labels, ...probe}: HostProbe): CapabilityHints => ({
  ...Object.fromEntries(Object.entries(probe).filter(([, value]) => value !== false)),
  ...(labels.length === 0 ? {} : {labels}),
})

const distinct = (labels: readonly string[]): string[] => [
  ...new Set(labels.map((label) => label.trim()).filter((label) => label !== '')),
]
