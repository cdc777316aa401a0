import {createMeshClient, type MeshClient} from '../../mesh/index.js'
import type {OrchestratorConfig} from '../../workspace/index.js'

/** One client per configuration, so that its connections are reused. */
const clients = new WeakMap<OrchestratorConfig, MeshClient>()

/** A client of the configured control plane; undefined if none is configured. */
export function meshClientOf(config: OrchestratorConfig): MeshClient | undefined {
  const {controlUrl: baseUrl} = config
  if (baseUrl === undefined) return undefined
  const known = clients.get(config)
  if (known !== undefined) return known
  const {token: mesh, scopeId: scope, meshNode, meshHttpTimeoutMs: timeoutMs} = config
  const {workerToken: worker, submitterToken: submitter, adminToken: admin, jwtHmacSecret} = config.meshSecrets
  const {nodeId, retryTransient: retry} = meshNode
  const tokens = {mesh, worker, submitter, admin, jwtHmacSecret, nodeId, scope}
  const client = createMeshClient({baseUrl, tokens, timeoutMs, retry})
  clients.set(config, client)
  return client
}
