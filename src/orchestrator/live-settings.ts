import type {SettingSources, SettingWarning} from '../config/index.js'
import {type HostProbe, probeHost, readHost} from '../mesh/index.js'
import {
  type AffinityGroup,
  detectGroups,
  type OrchestratorConfig,
  readScopes,
  resolveOrchestratorConfig,
  type Scopes,
} from '../tasks/index.js'

/** All that comes from the files and the environment of a workspace, and may be others tomorrow. */
export interface LiveSettings {
  readonly config: OrchestratorConfig
  readonly probe: HostProbe
  readonly groups: readonly AffinityGroup[]
  readonly scopes: Scopes
}

/**
 * Reads everything anew; nothing is in place before all of it is sound.
 * @throws orchestrator_config_invalid, config_type, document_unparsable
 */
export async function readLiveSettings(
  root: string,
  sources: SettingSources,
): Promise<{settings: LiveSettings; warnings: readonly SettingWarning[]}> {
  const {config, warnings} = resolveOrchestratorConfig(sources)
  const groups = config.affinityGroups.length > 0 ? config.affinityGroups : await detectGroups(root)
  const scopes = await readScopes(root)
  return {settings: {config, probe: probeHost(sources.env, readHost()), groups, scopes}, warnings}
}
