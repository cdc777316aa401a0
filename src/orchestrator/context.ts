import type {Logger} from '../log/index.js'
import type {HostProbe} from '../mesh/index.js'
import type {Store} from '../store/index.js'
import type {Scopes} from './agents/scope.js'
import type {OrchestratorConfig} from './config.js'
import type {TaskListener} from './listeners.js'
import type {MessageBus} from './messages/bus.js'
import type {AffinityGroup} from './routing/groups.js'

/**
 * What every operation works with: the store, the settings, and the few things that come from outside. Settings, probe,
 * groups and scopes are read when they are needed and not kept: a reload replaces them.
 */
export interface OrchestratorContext {
  readonly store: Store
  /** False where no file could be opened and the store is in memory, gone with the process. */
  readonly isKept: boolean
  /** Rows of other repositories may lie in the same file; none of them is ever looked at. */
  readonly repositoryId: string
  /** Root of the workspace: paths of manifests are relative to it. */
  readonly root: string
  readonly config: OrchestratorConfig
  /** Capabilities that this machine adds to an agent. */
  readonly probe: HostProbe
  /** Configured groups, else those found in the workspace. */
  readonly groups: readonly AffinityGroup[]
  /** Messages between the agents of this process. */
  readonly bus: MessageBus
  /** Parts of the program that act on changes of tasks and agents, in the same transaction. */
  readonly listeners: readonly TaskListener[]
  /** What agents may write. */
  readonly scopes: Scopes
  /** Unix milliseconds. */
  readonly now: () => number
  /** From 0 to 1. */
  readonly random: () => number
  /** Target `svc.orchestrator.placement`. */
  readonly placementLog: Pick<Logger, 'info'>
}
