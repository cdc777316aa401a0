import {SvcError} from '../../errors/index.js'
import type {OperationBase} from '../../operations/index.js'
import type {TaskPlace} from '../resources/cursor.js'
import type {BackgroundCalls} from './background.js'
import {hasEnded, type TaskState} from './state.js'
import {cancelSubmitted, findSubmitted, listSubmitted} from './submitted.js'

/** Number of tasks per page. */
const pageSize = 50

/** @throws mcp_task_not_found */
export function requireState(base: OperationBase, calls: BackgroundCalls, id: string): TaskState {
  const found = findSubmitted(base, id) ?? calls.find(base, id)
  if (found === undefined) throw new SvcError('mcp_task_not_found', {id})
  return found
}

/** Cancels a task that has not ended. @throws mcp_task_not_found, mcp_task_ended */
export function cancelState(base: OperationBase, calls: BackgroundCalls, id: string): TaskState {
  const state = requireState(base, calls, id)
  if (hasEnded(state)) throw new SvcError('mcp_task_ended', {id, status: state.status})
  if (findSubmitted(base, id) === undefined) calls.cancel(base, id)
  else cancelSubmitted(base, id)
  return requireState(base, calls, id)
}

/** One page of all tasks, newest first, and the start of the next page if there is one. */
export function listStates(
  base: OperationBase,
  calls: BackgroundCalls,
  place?: TaskPlace,
): {states: TaskState[]; next?: TaskPlace} {
  if (place !== undefined && 'callsFrom' in place) return listCalls(base, calls, place.callsFrom)
  const {states, lastId} = listSubmitted(base, {
    limit: pageSize,
    ...(place === undefined ? {} : {beforeId: place.tasksBefore}),
  })
  if (states.length === pageSize && lastId !== undefined) return {states, next: {tasksBefore: lastId}}
  const rest = listCalls(base, calls, 0)
  return {...rest, states: [...states, ...rest.states]}
}

function listCalls(base: OperationBase, calls: BackgroundCalls, offset: number) {
  const states = calls.list(base, {limit: pageSize, offset})
  return states.length < pageSize ? {states} : {states, next: {callsFrom: offset + states.length}}
}
