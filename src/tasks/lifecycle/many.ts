import {Exit, SvcError} from '../../errors/index.js'
import type {TaskLabel, WorkspaceContext} from '../../workspace/index.js'
import {displayTask} from '../base/ids.js'
import {retryTask} from './change.js'
import {cancelTask} from './finish.js'
import {requireTask} from './task-rows.js'

/** The outcome for one of several tasks. */
export interface TaskOutcome {
  task_id: number
  display_id: string
  /** Its new state; in a dry run, the state that it would have. */
  status?: TaskLabel
  /** Why the task is unchanged. */
  error?: {code: string; message: string; remediation: string}
}

interface DryRun {
  /** Performs the call and rolls it back: the outcomes are those of a real call. */
  dryRun?: boolean
}

/** Cancels these tasks in one transaction; those that cannot be cancelled are left unchanged. */
export function cancelTasks(
  context: WorkspaceContext,
  ids: readonly number[],
  {reason, ...options}: DryRun & {reason?: string | undefined} = {},
): TaskOutcome[] {
  // Dependants have larger ids: cancelled first, they do not fail because of their dependency.
  const latestFirst = [...new Set(ids)].sort((a, b) => b - a)
  const outcomes = actOnEach(context, latestFirst, options, (id) => [cancelTask(context, id, {reason}).id])
  return outcomes.reverse()
}

/**
 * Retries these failed or cancelled tasks in one transaction; those that cannot be retried are left unchanged.
 * @param dependants also retry the tasks that failed because of them
 */
export function retryTasks(
  context: WorkspaceContext,
  ids: readonly number[],
  {dependants = false, ...options}: DryRun & {dependants?: boolean | undefined} = {},
): TaskOutcome[] {
  // Dependencies have smaller ids and are retried before their dependants.
  const oldestFirst = [...new Set(ids)].sort((a, b) => a - b)
  return actOnEach(context, oldestFirst, options, (id) => retryTask(context, id, {dependants}).map((task) => task.id))
}

/** @param act returns the ids of the tasks that it changed, which are then skipped */
function actOnEach(
  context: WorkspaceContext,
  ids: readonly number[],
  {dryRun = false}: DryRun,
  act: (id: number) => number[],
): TaskOutcome[] {
  let outcomes: TaskOutcome[] = []
  try {
    context.store.transaction(() => {
      const errors = new Map<number, SvcError>()
      const changed = new Set<number>()
      for (const id of ids)
        if (!changed.has(id)) {
          const result = attempt(context, () => act(id))
          if (result instanceof SvcError) errors.set(id, result)
          else for (const each of result) changed.add(each)
        }
      outcomes = [...new Set([...ids, ...changed])].map((id) => outcomeOf(context, id, errors.get(id)))
      if (dryRun) throw new RolledBack()
    })
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error
  }
  return outcomes
}

/** Thrown to roll back the transaction of a dry run. */
class RolledBack extends Error {}

/** Returns the result or the error of the task; an error of the store affects all tasks and is thrown. */
function attempt<T>({store}: WorkspaceContext, act: () => T): T | SvcError {
  try {
    return store.transaction(act)
  } catch (error) {
    if (error instanceof SvcError && error.exit !== Exit.unavailable) return error
    throw error
  }
}

function outcomeOf(context: WorkspaceContext, id: number, error: SvcError | undefined): TaskOutcome {
  const named = {task_id: id, display_id: displayTask(id)}
  if (error === undefined) return {...named, status: requireTask(context, id).status}
  const {code, message, hint} = error
  return {...named, error: {code, message, remediation: hint}}
}
