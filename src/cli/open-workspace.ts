import type {SettingSources} from '../config/index.js'
import type {WorkspaceModules} from '../operations/index.js'
import type {Orchestrator} from '../orchestrator/index.js'

/** Opens the orchestrator of a workspace. Its store contains the tables of all modules. */
export async function openWorkspace(
  root: string,
  sources: SettingSources,
): Promise<{modules: WorkspaceModules; orchestrator: Orchestrator}> {
  const [modules, {assistantFragment}] = await Promise.all([
    import('../orchestrator/index.js'),
    import('../assistant/index.js'),
  ])
  return {modules, orchestrator: await modules.openOrchestrator({root, sources, fragments: [assistantFragment]})}
}
