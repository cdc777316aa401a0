import {resolve} from 'node:path'
import {
  meshNodeSettings,
  meshSecretSettings,
  meshSettings,
  resolveSettings,
  type SettingSources,
} from '../../config/index.js'
import type {MeshSecurity} from '../../contracts/index.js'
import {containedPath} from '../../files/index.js'
import {type LocalRegistry, readLocalRegistry, registryPath} from './local-registry.js'

export type {MeshSecurity}

/** Mesh configuration of this process. Secrets are reduced to whether they are set. */
export interface MeshEnvironment {
  enabled: boolean
  node_id: string | null
  scope_id: string | null
  control_url: string | null
  visibility: string | null
  labels: string[]
  device_class: string | null
  advertised: string[]
  http_join: boolean
  heartbeat_secs: number
  codex_telemetry: boolean
  security: MeshSecurity
}

export function meshSecurity(sources: SettingSources): MeshSecurity {
  const {token, scopeId} = resolveSettings(meshSettings, sources).values
  const secrets = resolveSettings(meshSecretSettings, sources).values
  const {workerToken, submitterToken, adminToken, jwtHmacSecret, bootstrapToken} = secrets
  const hasRoles = [workerToken, submitterToken, adminToken, jwtHmacSecret].some((secret) => secret !== undefined)
  return {
    token_set: token !== undefined,
    worker_token_set: workerToken !== undefined,
    submitter_token_set: submitterToken !== undefined,
    admin_token_set: adminToken !== undefined,
    jwt_secret_set: jwtHmacSecret !== undefined,
    bootstrap_token_set: bootstrapToken !== undefined,
    mesh_auth_mode: hasRoles ? 'role_mix' : token === undefined ? 'open' : 'legacy_mesh_only',
    scope_set: scopeId !== undefined,
  }
}

export function meshEnvironment(sources: SettingSources): MeshEnvironment {
  const mesh = resolveSettings(meshSettings, sources).values
  const node = resolveSettings(meshNodeSettings, sources).values
  const advertised = {
    gpu_cuda: mesh.advertiseGpu,
    gpu_vulkan: mesh.advertiseVulkan,
    gpu_webgpu: mesh.advertiseWebgpu,
    npu: mesh.advertiseNpu,
  }
  return {
    enabled: node.enabled,
    node_id: node.nodeId ?? null,
    scope_id: mesh.scopeId ?? null,
    control_url: mesh.controlUrl ?? null,
    visibility: node.visibility ?? null,
    labels: [...new Set([...mesh.hostLabels, ...mesh.labels])],
    device_class: mesh.deviceClass ?? null,
    advertised: Object.entries(advertised).flatMap(([name, isAdvertised]) => (isAdvertised ? [name] : [])),
    http_join: node.httpJoin,
    heartbeat_secs: node.heartbeatSecs,
    codex_telemetry: node.codexTelemetry,
    security: meshSecurity(sources),
  }
}

/** Local mesh status without network access: the settings of this process and the nodes of this machine. */
export interface LocalStatus {
  mesh_env: MeshEnvironment
  registry_path: string
  registry: LocalRegistry
}

/**
 * @param root folder of the workspace, which restricts `path`
 * @param path alternative registry inside the workspace; default: the registry of this machine
 * @throws path_denied, file_not_found; document_unparsable, file_unreadable
 */
export async function localStatus(
  sources: SettingSources,
  {root, path}: {root: string; path?: string | undefined},
): Promise<LocalStatus> {
  const own = registryPath(sources)
  const isOwn = path === undefined || resolve(root, path) === own
  const read = isOwn ? own : await containedPath(root, path)
  return {mesh_env: meshEnvironment(sources), registry_path: read, registry: await readLocalRegistry(read)}
}
