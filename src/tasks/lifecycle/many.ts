import {Exit, SvcError} from '../../errors/index.js'
import type {TaskContext} from '../base/context.js'
import {displayTask} from '../base/ids.js'
import type {TaskLabel} from '../base/vocabulary.js'
import {retryTask} from './change.js'
import {cancelTask} from './finish.js'
import {requireTask} from './task-rows.js'

/** What became of one of several tasks. */
export interface TaskOutcome {
  task_id: number
  display_id: string
  /** Its state now; in a dry run the state that it would have. */
  status?: TaskLabel
  /** Why it is as it was. */
  error?: {code: string; message: string; remediation: string}
}

interface DryRun {
  /** Everything is done and rolled back: the outcomes are those that the same call would have now. */
  dryRun?: boolean
}

/** Cancels each of these tasks that can be cancelled, in one transaction; one that cannot stays as it is. */
export function cancelTasks(
  context: TaskContext,
  ids: readonly number[],
  {reason, ...options}: DryRun & {reason?: string | undefined} = {},
): TaskOutcome[] {
  // What waits for another one has a larger id: cancelled first, it is not failed by the other one's end.
  const latestFirst = [...new Set(ids)].sort((a, b) => b - a)
  const outcomes = actOnEach(context, latestFirst, options, (id) => [cancelTask(context, id, reason).id])
  return outcomes.reverse()
}

/**
 * Tries each of these failed tasks again that can be, in one transaction; one that cannot stays as it is.
 * @param dependants also those that failed because of them
 */
export function retryTasks(
  context: TaskContext,
  ids: readonly number[],
  {dependants = false, ...options}: DryRun & {dependants?: boolean | undefined} = {},
): TaskOutcome[] {
  // What a task waits for has a smaller id, and is tried again before it.
  const oldestFirst = [...new Set(ids)].sort((a, b) => a - b)
  return actOnEach(context, oldestFirst, options, (id) => retryTask(context, id, {dependants}).map((task) => task.id))
}

/** @param act gives the ids of the tasks that it has changed: a later one of them is not acted on again */
function actOnEach(
  context: TaskContext,
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

/** Ends the transaction of a dry run. */
class RolledBack extends Error {}

/** The result, or the error of the task; an error of the store concerns all tasks, and is thrown. */
function attempt<T>({store}: TaskContext, act: () => T): T | SvcError {
  try {
    return store.transaction(act)
  } catch (error) {
    if (error instanceof SvcError && error.exit !== Exit.unavailable) return error
    throw error
  }
}

function outcomeOf(context: TaskContext, id: number, error: SvcError | undefined): TaskOutcome {
  const named = {task_id: id, display_id: displayTask(id)}
  if (error === undefined) return {...named, status: requireTask(context, id).status}
  const {code, message, hint} = error
  return {...named, error: {code, message, remediation: hint}}
}
