import type {OrchestratorConfig, WorkspaceContext} from '../../workspace/index.js'
import {readScopes} from '../agents/scope.js'
import {readHiddenChecks} from '../hidden/read-checks.js'
import {detectGroups} from '../routing/detect-groups.js'

/**
 * Reads what the files of a workspace say about its tasks: groups of files, unless they are configured, the files that
 * agents may write, and the hidden checks.
 * @param userFile path of the file of settings that contains the hidden checks
 * @throws hidden_check_unusable, exec_user_unusable
 */
export async function readWorkspace(
  root: string,
  config: OrchestratorConfig,
  userFile: string | undefined,
): Promise<Pick<WorkspaceContext, 'groups' | 'scopes' | 'hiddenChecks'>> {
  const groups = config.affinityGroups.length > 0 ? config.affinityGroups : await detectGroups(root)
  const scopes = await readScopes(root)
  const hiddenChecks = await readHiddenChecks(root, config, userFile)
  return {groups, scopes, hiddenChecks}
}
