import {SvcError} from '../../errors/index.js'
import type {MessageContext} from '../../messages/index.js'
import {
  appendEvent,
  displayOperation,
  displayTask,
  excerpt,
  matchOperationId,
  matchTaskId,
  requireRow,
  withoutUndefined,
} from '../../tasks/index.js'

import type {LoggedOperation, OperationName, Payloads} from './operation.js'
import {
  findSubmission,
  logOperation,
  type OperationRow,
  requireOperation,
  requireSubmission,
  toOperation,
  updateOperation,
} from './operation-rows.js'
import {Changed, reversals} from './reversals.js'

/**
 * Takes back what a person did, where all is still as it was left: a priority, a pause, an agent that has nothing to do,
 * a task that nobody has started.
 * @param which `OP-000007` or `7`; `T-0042` for the submission of a task, which gets into the log by this
 * @throws operation_not_found, task_not_found, operation_conflict, usage
 */
export const undoOperation = (context: MessageContext, which: string): LoggedOperation =>
  context.store.transaction(() => reverse(context, find(context, which, 'undo'), 'undo'))

/**
 * Does again what was undone. A task is submitted anew, an agent spawned anew: each under a new id, which the operation
 * is about from then on.
 * @param which as for `undoOperation`
 * @throws operation_not_found, operation_conflict, usage, and what the operation itself is refused with
 */
export const redoOperation = (context: MessageContext, which: string): LoggedOperation =>
  context.store.transaction(() => reverse(context, find(context, which, 'redo'), 'redo'))

type Direction = 'undo' | 'redo'

interface Found {
  /** As it was asked for. */
  name: string
  row: OperationRow
}

function find(context: MessageContext, which: string, direction: Direction): Found {
  const id = matchOperationId(which)
  if (id !== undefined) return {name: displayOperation(id), row: requireOperation(context, id)}
  const taskId = matchTaskId(which)
  if (taskId === undefined)
    throw new SvcError('usage', {
      reason: `${JSON.stringify(which)} is no operation; one looks like 7 or OP-000007, a submission like T-0042.`,
    })
  const row = direction === 'redo' ? requireSubmission(context, taskId) : submission(context, taskId)
  return {name: displayTask(taskId), row}
}

/**
 * The submission of a task. The row of the task says all that there is to know of it, so that submitting, which is done
 * all the time, writes nothing for the sake of undoing, which is rare.
 */
function submission(context: MessageContext, taskId: number): OperationRow {
  const known = findSubmission(context, taskId)
  if (known !== undefined) return known
  const description = excerpt(lineOf(requireRow(context, taskId).description), longestExcerpt)
  return requireOperation(context, logOperation(context, 'submit_task', {task_id: taskId, description}))
}

/** Of a description in the log, which is no copy of a task; characters. */
const longestExcerpt = 100

const lineOf = (description: string): string => description.replaceAll(/\p{Cc}+/gu, ' ').trim()

function reverse(context: MessageContext, {name, row}: Found, direction: Direction): LoggedOperation {
  const undoes = direction === 'undo'
  const conflict = (reason: string, cause?: Error) =>
    new SvcError('operation_conflict', {operation: name, what: undoes ? 'undone' : 'redone', reason}, {cause})
  if ((row.undone === 1) === undoes) throw conflict(undoes ? 'it is undone already' : 'it was not undone')
  try {
    apply(context, row, direction)
  } catch (error) {
    throw error instanceof Changed ? conflict(error.message, error) : error
  }
  const operation = toOperation(requireOperation(context, row.id))
  emitReversal(context, operation)
  return operation
}

function apply<K extends OperationName>(context: MessageContext, row: OperationRow<K>, direction: Direction) {
  const payload = reversals[row.operation][direction](context, JSON.parse(row.payload) as Payloads[K])
  updateOperation(context, row, payload, direction === 'undo')
}

function emitReversal(context: MessageContext, operation: LoggedOperation): void {
  const {op_id, operation: name, summary, undone, task_id, agent_id} = operation
  appendEvent(context, {
    type: undone ? 'operation_undone' : 'operation_redone',
    op_id,
    operation: name,
    summary,
    ...withoutUndefined({task_id, agent_id}),
  })
}
