import {discoverWorkspace, resolveSettings, type SettingSources, workspaceSettings} from '../config/index.js'
import {repositoryId} from '../store/index.js'
import {type ActiveStore, activeStore, type Orchestrator, projectStorePath} from './open.js'

/** Which store has the tasks of a workspace, and whether this process works in the workspace that it stands in. */
export interface WorkspaceJourney {
  workspace_journey_store_mode: 'project' | 'canonical'
  /** Where the store of the workspace is, or would be. */
  project_store_path: string
  repository_id: string
  /** Whether the store of the user is taken where the one of the workspace cannot be opened. */
  fallback_canonical: boolean
  /** The repository that this process was started for. */
  daemon_repository_id: string
  /** The repository that would be found now, from the working directory or the folder that the environment names. */
  discovered_repository_id: string
  match: boolean
  active_store: ActiveStore
}

/** Looks where this process stands, and compares it with what was opened. */
export function workspaceJourney(
  orchestrator: Orchestrator,
  {sources, cwd = process.cwd()}: {sources: SettingSources; cwd?: string},
): WorkspaceJourney {
  const {root, repositoryId: bound, places} = orchestrator
  const discovered = discover(sources, cwd)
  return {
    workspace_journey_store_mode: places.journeyStore,
    project_store_path: projectStorePath(root),
    repository_id: bound,
    fallback_canonical: places.journeyFallbackCanonical,
    daemon_repository_id: bound,
    discovered_repository_id: discovered,
    match: discovered === bound,
    active_store: activeStore(orchestrator),
  }
}

/** As whoever opens a workspace finds it. */
function discover(sources: SettingSources, cwd: string): string {
  const {values} = resolveSettings(workspaceSettings, sources)
  return repositoryId(values.repositoryRoot ?? discoverWorkspace(cwd).root)
}
