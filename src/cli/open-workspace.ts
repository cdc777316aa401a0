import type {SettingSources} from '../config/index.js'
import type {WorkspaceModules} from '../operations/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import type {MetricPlace} from '../telemetry/index.js'

type Opening = Parameters<typeof import('./workspace-store.js').openStore>

/** Opens the orchestrator of a workspace without loading all functions of the modules. */
export const openStore = async (...opening: Opening): Promise<Orchestrator> =>
  (await import('./workspace-store.js')).openStore(...opening)

/** Opens the orchestrator of a workspace, and loads the modules that work on it. */
export async function openWorkspace(
  ...opening: Opening
): Promise<{modules: WorkspaceModules; orchestrator: Orchestrator}> {
  const modules = await import('../orchestrator/index.js')
  return {modules, orchestrator: await openStore(...opening)}
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
  const orchestrator = await openStore(root, sources)
  try {
    for (const notice of orchestrator.notices) onNotice(notice)
    return work(orchestrator)
  } finally {
    orchestrator.close()
  }
}
