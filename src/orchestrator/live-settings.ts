import type {SettingSources, SettingWarning} from '../config/index.js'
import {type HostProbe, probeHost, readHost} from '../mesh/index.js'
import {readWorkspace} from '../tasks/index.js'
import {resolveTelemetry, type Telemetry} from '../telemetry/index.js'
import {type OrchestratorConfig, resolveOrchestratorConfig, type WorkspaceContext} from '../workspace/index.js'

/** Everything read from the files and the environment of a workspace; a reload replaces it. */
export interface LiveSettings extends Pick<WorkspaceContext, 'groups' | 'scopes' | 'hiddenChecks'> {
  readonly config: OrchestratorConfig
  readonly probe: HostProbe
  readonly telemetry: Telemetry
}

/**
 * Reads all settings again. Nothing is applied unless everything is valid.
 * @throws orchestrator_config_invalid, config_type, config_user_only, document_unparsable, hidden_check_unusable,
 *   exec_user_unusable
 */
export async function readLiveSettings(
  root: string,
  sources: SettingSources,
): Promise<{settings: LiveSettings; warnings: readonly SettingWarning[]}> {
  const {config, warnings} = resolveOrchestratorConfig(sources)
  const files = await readWorkspace(root, config, sources.userFile?.path)
  const {telemetry, warnings: more} = resolveTelemetry(sources)
  const probe = probeHost(sources.env, readHost())
  return {settings: {config, probe, ...files, telemetry}, warnings: [...warnings, ...more]}
}
