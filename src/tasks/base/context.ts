import type {Logger} from '../../log/index.js'
import type {HostProbe} from '../../mesh/index.js'
import type {Store} from '../../store/index.js'
import type {OrchestratorConfig} from './config.js'
import type {AffinityGroup} from './groups.js'
import type {TaskStatus} from './vocabulary.js'

/** Name of an agent -> patterns of the files that it may write. An agent that is not in it may write every file. */
export type Scopes = ReadonlyMap<string, readonly string[]>

/**
 * What every operation works with: the store, the settings, and the few things that come from outside. Settings, probe,
 * groups and scopes are read when they are needed and not kept: a reload replaces them.
 */
export interface TaskContext {
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

/** Changes of tasks and agents that other modules act on. */
export interface TaskChangeEvents {
  /** A task has another status. @property isRestored it ended before, and a doubt about it is settled */
  taskMoved: {taskId: number; status: TaskStatus; reason: string | undefined; isRestored: boolean}
  /** A task has ended, and what waits for it is settled. @property failure why, where it failed in a run */
  taskEnded: {taskId: number; failure?: string}
  /** A task that has ended is about to be queued again; a listener that throws prevents it. */
  taskReopening: {taskId: number}
  agentRetired: {agentId: number}
  /** The daemon cleans up, as it does every few seconds: old rows are deleted, a limited number at a time. */
  cleanup: {retentionDays: number}
}

/** Handlers are called in the transaction of the change, so that both are stored or neither. */
export type TaskListener = {
  readonly [E in keyof TaskChangeEvents]?: (context: TaskContext, event: TaskChangeEvents[E]) => void
}

export function notify<E extends keyof TaskChangeEvents>(
  context: TaskContext,
  name: E,
  event: TaskChangeEvents[E],
): void {
  for (const listener of context.listeners) listener[name]?.(context, event)
}
