import {type KeptOutput, type OutputPiece, withGap} from '../../process/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import type {Task, TaskOutput} from '../base/task.js'
import {requireTask} from './task-rows.js'

/**
 * Writes the output since an offset, and deletes stored pieces that are no longer part of the kept beginning or end.
 * @returns the offset to continue from
 */
export function writeOutput(
  {store, repositoryId, now}: WorkspaceContext,
  taskId: number,
  generation: number,
  output: KeptOutput,
  offset: number,
): number {
  for (const {at, bytes} of output.since(offset))
    store.run(
      'INSERT INTO orch_task_output (task_id, at, generation, repository_id, bytes, written_at_ms) VALUES (?, ?, ?, ?, ?, ?)',
      [taskId, at, generation, repositoryId, bytes, now()],
    )
  const {tailStart, missing} = output
  if (missing > 0)
    store.run('DELETE FROM orch_task_output WHERE task_id = ? AND at >= ? AND at + length(bytes) <= ?', [
      taskId,
      tailStart - missing,
      tailStart,
    ])
  return output.total
}

/** Stores the end of the output of a run on another node in place of what is known so far. */
export function replaceOutput(context: WorkspaceContext, taskId: number, generation: number, text: string): void {
  const {store, repositoryId, now} = context
  clearOutput(context, taskId)
  store.run(
    'INSERT INTO orch_task_output (task_id, at, generation, repository_id, bytes, written_at_ms) VALUES (?, 0, ?, ?, ?, ?)',
    [taskId, generation, repositoryId, Buffer.from(text), now()],
  )
}

/** Deletes the output of the previous run when the next one starts. */
export const clearOutput = ({store}: WorkspaceContext, taskId: number): void => {
  store.run('DELETE FROM orch_task_output WHERE task_id = ?', [taskId])
}

/** A reader's position in the output of a task. */
export interface OutputPlace {
  /** Generation of the run: the output of the next run starts at 0 again. */
  generation: number
  offset: number
}

export const outputStart: OutputPlace = {generation: 0, offset: 0}

/** The output written since a position, and the position to continue from. */
export function readOutput(
  {store}: WorkspaceContext,
  taskId: number,
  since: OutputPlace = outputStart,
): {text: string; missing: number; place: OutputPlace} {
  const pieces = store.all<OutputPiece & {generation: number}>(
    `SELECT at, bytes, generation FROM orch_task_output
WHERE task_id = ? AND (generation <> ? OR at + length(bytes) > ?) ORDER BY at`,
    [taskId, since.generation, since.offset],
  )
  const generation = pieces[0]?.generation ?? since.generation
  let offset = generation === since.generation ? since.offset : 0
  let text = ''
  let missing = 0
  for (const {at, bytes} of pieces) {
    const gap = Math.max(0, at - offset)
    text = withGap(text, gap, bytes.subarray(Math.max(0, offset - at)).toString('utf8'))
    missing += gap
    offset = at + bytes.length
  }
  return {text, missing, place: {generation, offset}}
}

/** Returns a task with its command output, if that is kept. @throws task_not_found */
export function taskWithOutput(context: WorkspaceContext, id: number): Task {
  const task = requireTask(context, id)
  const {text, missing, place} = readOutput(context, id)
  const output: TaskOutput = {text, bytes: place.offset, missing_bytes: missing}
  return place.offset === 0 ? task : {...task, output}
}

/** Maximum number of rows per delete. */
const pruneSize = 1000
const dayMs = 86_400_000

/** Deletes output written more than `days` days ago. Returns the number of pieces. */
export const pruneOutput = ({store, repositoryId, now}: WorkspaceContext, days: number): number =>
  store.run(
    `DELETE FROM orch_task_output WHERE rowid IN (
  SELECT rowid FROM orch_task_output WHERE repository_id = ? AND written_at_ms < ? ORDER BY written_at_ms LIMIT ?)`,
    [repositoryId, now() - days * dayMs, pruneSize],
  ).changes
