import type {OrchVerifyV1} from '../../contracts/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {displayTask} from '../base/ids.js'
import {readEvaluation} from '../evidence/evidence-rows.js'
import {baselineOf} from '../evidence/inspector.js'
import {isChanged} from '../gates/harness-state.js'
import {labelOf, requireRow} from '../lifecycle/task-rows.js'
import {emptyEvaluation, receiptOf} from './receipt.js'
import type {RecordedEvaluation} from './record.js'

/**
 * Recomputes the receipt of a completed task from the stored evidence, and compares the files with their state at the
 * completion. Files that were changed later do not invalidate the receipt.
 * @throws task_not_found
 */
export async function verifyTask(context: WorkspaceContext, id: number): Promise<OrchVerifyV1> {
  const row = requireRow(context, id)
  const evaluation = readEvaluation<RecordedEvaluation>(context, id)
  const evidence = evaluation?.outcome === 'completed' ? evaluation : emptyEvaluation
  const recomputed = receiptOf(row, row.result, evidence)
  const changed = evidence.files.filter(isChanged)
  const now = await baselineOf(
    context.root,
    changed.map(({path}) => path),
  )
  return {
    task_id: id,
    display_id: displayTask(id),
    status: labelOf(row),
    valid: row.receipt === recomputed,
    ...(row.receipt === null ? {} : {receipt: row.receipt}),
    recomputed,
    files: changed.map(({path, digest = null}, i) => ({
      path,
      state: now[i]?.digest === digest ? 'same' : now[i]?.digest === null ? 'missing' : 'changed',
    })),
  }
}
