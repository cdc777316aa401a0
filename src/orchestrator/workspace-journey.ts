import {discoverWorkspace, resolveSettings, type SettingSources, workspaceSettings} from '../config/index.js'
import {repositoryId} from '../store/index.js'
import {type ActiveStore, type Orchestrator, projectStorePath, type StoreMode, storeMode} from './open.js'

/** The store that has the tasks of a workspace, and whether this process works in the workspace of its directory. */
export interface WorkspaceJourney {
  workspace_journey_store_mode: StoreMode
  /** Path of the workspace's store, even if it does not exist. */
  project_store_path: string
  repository_id: string
  /** The user's store is used if that of the workspace cannot be opened. */
  fallback_canonical: boolean
  /** The repository for which this process was started. */
  daemon_repository_id: string
  /** The repository found now from the working directory, or configured in the environment. */
  discovered_repository_id: string
  match: boolean
  active_store: ActiveStore
}

/** Discovers the current workspace and compares it with the open one. */
export function workspaceJourney(
  orchestrator: Orchestrator,
  {sources, cwd = process.cwd()}: {sources: SettingSources; cwd?: string},
): WorkspaceJourney {
  const {root, repositoryId: bound, places} = orchestrator
  const discovered = discover(orchestrator, sources, cwd)
  return {
    workspace_journey_store_mode: storeMode(places),
    project_store_path: projectStorePath(root),
    repository_id: bound,
    fallback_canonical: places.journeyFallbackCanonical,
    daemon_repository_id: bound,
    discovered_repository_id: discovered,
    match: discovered === bound,
    active_store: orchestrator.activeStore,
  }
}

/** Discovers the workspace in the same way as when opening one. */
function discover({root, repositoryId: bound, places}: Orchestrator, sources: SettingSources, cwd: string): string {
  const {values} = resolveSettings(workspaceSettings, sources)
  const found = discoverWorkspace(cwd).root
  const isConfigured = [values, places].some(({repositoryRoot}) => repositoryRoot !== undefined)
  return !isConfigured && found === root ? bound : repositoryId(values.repositoryRoot ?? found)
}
