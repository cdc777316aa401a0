import type {WorkspaceContext} from '../../workspace/index.js'
import {questionOfReason} from '../base/ids.js'
import {lastOpen} from '../lifecycle/dependencies.js'
import {moveTask} from '../lifecycle/status.js'
import {requireRow} from '../lifecycle/task-rows.js'
import type {QuestionRow} from './question-rows.js'

/**
 * Lets the task that waits for a question continue. A task that is in doubt continues when the doubt is resolved.
 * @param block text to append to its description
 */
export function releaseTask(context: WorkspaceContext, {question_id, task_id}: QuestionRow, block = ''): void {
  if (task_id === null) return
  const row = requireRow(context, Number(task_id))
  const description = `${row.description}${block}`
  if (row.status === 'BlockedOnApproval' && questionOfReason(row.status_reason) === question_id)
    moveTask(context, row, row.unmet_dependencies === 0 ? 'Queued' : 'Blocked', {
      status_reason: null,
      blocked_on: lastOpen(context, row.id),
      description,
    })
  else if (row.status === 'Doubted' && questionOfReason(row.doubted_reason) === question_id)
    moveTask(context, row, 'Doubted', {doubted_status: 'Queued', doubted_reason: null, description})
}
