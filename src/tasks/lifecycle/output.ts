import type {TaskContext} from '../base/context.js'
import {type KeptOutput, type OutputPiece, withGap} from '../base/kept-output.js'
import type {Task, TaskOutput} from '../base/task.js'
import {requireTask} from './task-rows.js'

/**
 * Writes what has come since an offset, and deletes what lies between the beginning and the end that are kept.
 * @returns the offset to go on from
 */
export function writeOutput(
  {store, repositoryId, now}: TaskContext,
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

/** The output of the run before is gone when the next one starts. */
export const clearOutput = ({store}: TaskContext, taskId: number): void => {
  store.run('DELETE FROM orch_task_output WHERE task_id = ?', [taskId])
}

/** How far somebody has read the output of a task. */
export interface OutputPlace {
  /** Of the run: the output of the next one begins at 0 again. */
  generation: number
  offset: number
}

export const outputStart: OutputPlace = {generation: 0, offset: 0}

/** What was written since, and the place to go on from. */
export function readOutput(
  {store}: TaskContext,
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

/** A task with what its command has written, where that is kept. @throws task_not_found */
export function taskWithOutput(context: TaskContext, id: number): Task {
  const task = requireTask(context, id)
  const {text, missing, place} = readOutput(context, id)
  const output: TaskOutput = {text, bytes: place.offset, missing_bytes: missing}
  return place.offset === 0 ? task : {...task, output}
}

/** Rows that are deleted in one go. */
const pruneSize = 1000
const dayMs = 86_400_000

/** Deletes output that was written more than so many days ago; gives how many pieces. */
export const pruneOutput = ({store, repositoryId, now}: TaskContext, days: number): number =>
  store.run(
    `DELETE FROM orch_task_output WHERE rowid IN (
  SELECT rowid FROM orch_task_output WHERE repository_id = ? AND written_at_ms < ? ORDER BY written_at_ms LIMIT ?)`,
    [repositoryId, now() - days * dayMs, pruneSize],
  ).changes
