import {cwd} from 'node:process'
import {
  discoverWorkspace,
  meshNodeSettings,
  meshSecretSettings,
  meshSettings,
  orchestratorDelegationSettings,
  readMeshEnv,
  resolveSettings,
  type SettingSources,
  settingTables,
} from '../../config/index.js'
import {registerSecret} from '../../log/index.js'
import {createMeshClient, type MeshClient, type MeshClientOptions} from '../client/client.js'
import {type MeshTokens, secretsOf} from '../client/tokens.js'

/**
 * Creates a client with the configured tokens. If a token is refused, the client reads the token files again, so that a
 * long-lived process picks up rotated tokens. @param node subject of the signed tokens that the client creates
 */
export function configuredClient(
  sources: SettingSources,
  baseUrl: string,
  node?: string,
  options?: Pick<MeshClientOptions, 'connectRetryMs'>,
): MeshClient {
  const {retryTransient} = resolveSettings(meshNodeSettings, sources).values
  const {meshHttpTimeoutMs} = resolveSettings(orchestratorDelegationSettings, sources).values
  return createMeshClient({
    baseUrl,
    tokens: tokensOf(sources, node),
    freshTokens: () => freshTokens(sources, baseUrl, node),
    timeoutMs: meshHttpTimeoutMs,
    retry: retryTransient,
    ...options,
  })
}

/** Reads the tokens again; undefined if the files now configure another control plane. */
function freshTokens(sources: SettingSources, baseUrl: string, node: string | undefined): MeshTokens | undefined {
  if (sources.envFile === undefined) return undefined
  const envFile = readMeshEnv(discoverWorkspace(cwd()).root, sources.env, settingTables, sources.file)
  const now = {...sources, envFile}
  if (resolveSettings(meshSettings, now).values.controlUrl !== baseUrl) return undefined
  const tokens = tokensOf(now, node)
  for (const secret of secretsOf(tokens)) registerSecret(secret)
  return tokens
}

function tokensOf(sources: SettingSources, nodeId: string | undefined): MeshTokens {
  const {token: mesh, scopeId: scope} = resolveSettings(meshSettings, sources).values
  const secrets = resolveSettings(meshSecretSettings, sources).values
  const {workerToken: worker, submitterToken: submitter, adminToken: admin, jwtHmacSecret} = secrets
  return {mesh, worker, submitter, admin, jwtHmacSecret, nodeId, scope}
}
