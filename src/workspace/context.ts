import type {Logger} from '../log/index.js'
import type {HostProbe} from '../mesh/index.js'
import type {Store} from '../store/index.js'
import type {Telemetry} from '../telemetry/index.js'
import type {OrchestratorConfig} from './config.js'
import type {AffinityGroup} from './groups.js'
import type {HiddenChecks} from './hidden-checks.js'
import type {TaskStatus} from './vocabulary.js'

/** Agent name -> patterns of the files that it may write. An agent without an entry may write every file. */
export type Scopes = ReadonlyMap<string, readonly string[]>

/**
 * Dependencies of every operation. Read settings, probe, groups and scopes when they are needed and do not keep them: a
 * reload replaces them.
 */
export interface WorkspaceContext {
  readonly store: Store
  /** False if the store is in memory because no file could be opened. */
  readonly isKept: boolean
  /** The file may contain rows of other repositories; they are never read. */
  readonly repositoryId: string
  /** Root of the workspace: paths of manifests are relative to it. */
  readonly root: string
  readonly config: OrchestratorConfig
  /** Capabilities that this machine adds to an agent. */
  readonly probe: HostProbe
  /** What is recorded in addition to model calls. */
  readonly telemetry: Telemetry
  /** Configured groups, or else those detected in the workspace. */
  readonly groups: readonly AffinityGroup[]
  /**
   * Starts the workflow that works on a goal, and is awaited until the workflow has started. Undefined if this process
   * cannot run workflows.
   */
  readonly startWorkflow?: ((handoff: WorkflowHandoff) => Promise<void>) | undefined
  /** Modules that act on task and agent changes, in the same transaction. */
  readonly listeners: readonly TaskListener[]
  /** Files that agents may write. */
  readonly scopes: Scopes
  /** Checks that workers do not know; undefined if the settings of this process contain none for the workspace. */
  readonly hiddenChecks: HiddenChecks | undefined
  /** Unix milliseconds. */
  readonly now: () => number
  /** Random number in [0, 1). */
  readonly random: () => number
  /** Log target `svc.orchestrator.placement`. */
  readonly placementLog: Pick<Logger, 'info'>
}

/** A goal that a workflow works on, and the step of the plan that stands for the workflow. */
export interface WorkflowHandoff {
  goal: string
  planSessionId: string
  nodeId?: string
  version?: number
}

/** Task and agent changes that other modules act on. */
export interface TaskChangeEvents {
  /**
   * A task changed its status.
   * @property isRestored it returned to its earlier final state because a doubt was resolved
   */
  taskMoved: {taskId: number; status: TaskStatus; reason: string | undefined; isRestored: boolean}
  /** A task has ended, and its dependants are updated. @property failure the reason, if it failed during a run */
  taskEnded: {taskId: number; failure?: string}
  /** A finished task is about to be queued again; a listener can throw to prevent it. */
  taskReopening: {taskId: number}
  /** A workflow run that was started for a step of a plan has ended. */
  workflowEnded: {
    planSessionId: string
    nodeId: string
    version: number
    status: 'completed' | 'failed' | 'cancelled'
    error: string | undefined
  }
  /** Another version of a plan has replaced this one: what works on its unfinished steps is to end. */
  planReplaced: {planSessionId: string; version: number}
  agentRetired: {agentId: number}
  /** Periodic cleanup by the daemon, every few seconds: old rows are deleted, a limited number at a time. */
  cleanup: {retentionDays: number}
}

/** Handlers run in the transaction of the change, so that both are stored or neither is. */
export type TaskListener = {
  readonly [E in keyof TaskChangeEvents]?: (context: WorkspaceContext, event: TaskChangeEvents[E]) => void
}

export function notify<E extends keyof TaskChangeEvents>(
  context: WorkspaceContext,
  name: E,
  event: TaskChangeEvents[E],
): void {
  for (const listener of context.listeners) listener[name]?.(context, event)
}
