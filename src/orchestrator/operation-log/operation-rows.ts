import {withoutUndefined} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {displayTask} from '../../tasks/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'

import {type LoggedOperation, type OperationName, type Payloads, summaries} from './operation.js'

/** `OP-000007` */
export const displayOperation = (id: number): string => `OP-${String(id).padStart(6, '0')}`

/** A row of `agent_oplog`. */
export interface OperationRow<K extends OperationName = OperationName> {
  id: number
  operation: K
  payload: string
  summary: string
  undone: 0 | 1
  timestamp_ms: number
}

const select = 'SELECT id, operation, payload, summary, undone, timestamp_ms FROM agent_oplog WHERE repository_id = ?'

/** Logs an operation in the transaction that performs it. */
export function logOperation<K extends OperationName>(
  {store, repositoryId, now}: WorkspaceContext,
  operation: K,
  payload: Payloads[K],
  {undone = false} = {},
): number {
  const {lastInsertRowid} = store.run(
    'INSERT INTO agent_oplog (repository_id, operation, payload, summary, undone, timestamp_ms) VALUES (?, ?, ?, ?, ?, ?)',
    [repositoryId, operation, JSON.stringify(payload), summaries[operation](payload), undone ? 1 : 0, now()],
  )
  return Number(lastInsertRowid)
}

/** Marks an operation as undone or redone, with its new payload. */
export function updateOperation<K extends OperationName>(
  {store}: WorkspaceContext,
  {id, operation}: OperationRow<K>,
  payload: Payloads[K],
  undone: boolean,
): void {
  store.run('UPDATE agent_oplog SET undone = ?, payload = ?, summary = ? WHERE id = ?', [
    undone ? 1 : 0,
    JSON.stringify(payload),
    summaries[operation](payload),
    id,
  ])
}

/** @throws operation_not_found */
export function requireOperation({store, repositoryId}: WorkspaceContext, id: number): OperationRow {
  const row = store.get<OperationRow>(`${select} AND id = ?`, [repositoryId, id])
  if (row === undefined) throw new SvcError('operation_not_found', {operation: displayOperation(id)})
  return row
}

export const submissionSql = `${select} AND operation = 'submit_task' AND payload ->> 'task_id' = ?
ORDER BY id DESC LIMIT 1`

/** The log entry of a task's submission; there is only one if it has been undone before. */
export const findSubmission = (
  {store, repositoryId}: WorkspaceContext,
  taskId: number,
): OperationRow<'submit_task'> | undefined =>
  store.get<OperationRow<'submit_task'>>(submissionSql, [repositoryId, taskId])

/** @throws operation_not_found */
export function requireSubmission(context: WorkspaceContext, taskId: number): OperationRow<'submit_task'> {
  const row = findSubmission(context, taskId)
  if (row === undefined) throw new SvcError('operation_not_found', {operation: displayTask(taskId)})
  return row
}

export function toOperation({payload, undone, ...row}: OperationRow): LoggedOperation {
  const {task_id, agent_id} = JSON.parse(payload) as {task_id?: number; agent_id?: number}
  return {...row, op_id: displayOperation(row.id), undone: undone === 1, ...withoutUndefined({task_id, agent_id})}
}

/** Operations that can be undone or redone, latest first. */
export const listOperations = (
  {store, repositoryId}: WorkspaceContext,
  {limit = 50}: {limit?: number} = {},
): LoggedOperation[] =>
  store.all<OperationRow>(`${select} ORDER BY id DESC LIMIT ?`, [repositoryId, limit]).map(toOperation)
