import {withoutUndefined} from '../../contracts/index.js'
import {excerpt, SvcError} from '../../errors/index.js'
import type {MessageContext} from '../../messages/index.js'
import {appendEvent, displayTask, matchId, requireRow} from '../../tasks/index.js'

import type {LoggedOperation, OperationName, Payloads} from './operation.js'
import {
  displayOperation,
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
 * Undoes an operation of a person if its result is unchanged. Such an operation is a priority change, a pause, the
 * spawning of an agent that is still idle, or the submission of a task that has not started.
 * @param which `OP-000007` or `7`; `T-0042` for the submission of a task, which is logged by this call
 * @throws operation_not_found, task_not_found, operation_conflict, usage
 */
export const undoOperation = (context: MessageContext, which: string): LoggedOperation =>
  context.store.transaction(() => reverse(context, find(context, which, 'undo'), 'undo'))

/**
 * Redoes an undone operation. A task or an agent is created under a new id, which the operation refers to from then on.
 * @param which as for `undoOperation`
 * @throws operation_not_found, operation_conflict, usage, and the errors of the operation itself
 */
export const redoOperation = (context: MessageContext, which: string): LoggedOperation =>
  context.store.transaction(() => reverse(context, find(context, which, 'redo'), 'redo'))

type Direction = 'undo' | 'redo'

interface Found {
  /** The id as specified by the caller. */
  name: string
  row: OperationRow
}

function find(context: MessageContext, which: string, direction: Direction): Found {
  const id = matchId(which, 'OP')
  if (id !== undefined) return {name: displayOperation(id), row: requireOperation(context, id)}
  const taskId = matchId(which, 'T')
  if (taskId === undefined)
    throw new SvcError('usage', {
      reason: `${JSON.stringify(which)} is not an operation id. Expected a form such as 7 or OP-000007, or T-0042 for a submission.`,
    })
  const row = direction === 'redo' ? requireSubmission(context, taskId) : submission(context, taskId)
  return {name: displayTask(taskId), row}
}

/**
 * The operation of a task's submission. It is reconstructed from the task's row, so that frequent submissions write no
 * log entries for rare undos.
 */
function submission(context: MessageContext, taskId: number): OperationRow {
  const known = findSubmission(context, taskId)
  if (known !== undefined) return known
  const description = excerpt(lineOf(requireRow(context, taskId).description), maxExcerptLength)
  return requireOperation(context, logOperation(context, 'submit_task', {task_id: taskId, description}))
}

/** Maximum length of a description in the log, which is not a copy of the task; characters. */
const maxExcerptLength = 100

const lineOf = (description: string): string => description.replaceAll(/\p{Cc}+/gu, ' ').trim()

function reverse(context: MessageContext, {name, row}: Found, direction: Direction): LoggedOperation {
  const undoes = direction === 'undo'
  const conflict = (reason: string, cause?: Error) =>
    new SvcError('operation_conflict', {operation: name, what: undoes ? 'undone' : 'redone', reason}, {cause})
  if ((row.undone === 1) === undoes) throw conflict(undoes ? 'it is already undone' : 'it has not been undone')
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
