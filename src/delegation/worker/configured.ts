import {
  meshSettings,
  orchestratorDelegationSettings,
  type ResolvedSetting,
  resolveSettings,
  type SettingSources,
} from '../../config/index.js'
import type {InferenceEndpoint} from '../../inference-client/index.js'
import {type MeshClient, type SelfRecord, workFolder} from '../../mesh/index.js'
import type {OrchestratorConfig} from '../../workspace/index.js'
import type {WorkerOptions} from './worker.js'

/** Agent that receives tasks if none is configured. */
const defaultReceiver = '2'

interface WorkerSetup {
  sources: SettingSources
  mesh: MeshClient
  /** Record of this node. */
  record: SelfRecord
  /** Current configuration of the workspace, whose templates a task can run. */
  config: () => OrchestratorConfig
  endpoint: InferenceEndpoint
}

/** Options of a worker from the configuration of a workspace. */
export function configuredWorker({
  sources,
  mesh,
  record,
  config,
  endpoint,
}: WorkerSetup): Omit<WorkerOptions, 'drainMs' | 'signal'> {
  const {env} = sources
  const {meshRemoteExecuteReceiverAgent, meshRemoteWorkerPollIntervalSecs} = config()
  const {id: node, scope_id: scope, capabilities = {}} = record
  return {
    mesh,
    node,
    receiver: meshRemoteExecuteReceiverAgent ?? defaultReceiver,
    pollIntervalSecs: meshRemoteWorkerPollIntervalSecs,
    scope,
    folder: workFolder(env),
    settings: () => {
      const current = config()
      return {config: current, endpoint, env, capabilities, secretboxKey: current.meshSecrets.secretboxKey}
    },
  }
}

/** True if a control plane is configured and the poll interval of the worker is set explicitly, and not to 0. */
export function isWorkerConfigured(sources: SettingSources): boolean {
  const isInterval = ({name}: ResolvedSetting) => name === 'orchestrator.mesh_remote_worker_poll_interval_secs'
  const interval = resolveSettings(orchestratorDelegationSettings, sources).settings.find(isInterval)
  const {controlUrl} = resolveSettings(meshSettings, sources).values
  return controlUrl !== undefined && interval?.origin.source !== 'default' && interval?.value !== 0
}
