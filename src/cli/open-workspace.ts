import type {SettingSources} from '../config/index.js'
import type {WorkspaceModules} from '../operations/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import type {Fragment} from '../store/index.js'
import type {MetricPlace} from '../telemetry/index.js'

/**
 * Opens the orchestrator of a workspace. Its store contains the tables of all modules.
 * @param tables further tables, which only this process uses
 */
export async function openWorkspace(
  root: string,
  sources: SettingSources,
  tables: readonly Fragment[] = [],
): Promise<{modules: WorkspaceModules; orchestrator: Orchestrator}> {
  const [modules, {assistantFragment}] = await Promise.all([
    import('../orchestrator/index.js'),
    import('../assistant/index.js'),
  ])
  return {
    modules,
    orchestrator: await modules.openOrchestrator({root, sources, fragments: [assistantFragment, ...tables]}),
  }
}

/** What a command passes to open a workspace store. */
export interface StoreRequest {
  root: string
  sources: SettingSources
  /** Receives messages about the store, for instance that nothing is saved. */
  onNotice: (text: string) => void
}

/** Runs work with the store of a workspace. */
export async function withWorkspaceStore<T>(
  {root, sources, onNotice}: StoreRequest,
  work: (place: MetricPlace) => T,
): Promise<T> {
  const {orchestrator} = await openWorkspace(root, sources)
  try {
    for (const notice of orchestrator.notices) onNotice(notice)
    return work(orchestrator)
  } finally {
    orchestrator.close()
  }
}
