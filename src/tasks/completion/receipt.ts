import {createHash} from 'node:crypto'
import type {TaskRow} from '../lifecycle/task-rows.js'
import {isNotable, type RecordedEvaluation} from './record.js'

/** The parts of an evaluation that a receipt covers. */
type Covered = Pick<RecordedEvaluation, 'gates' | 'files' | 'checks' | 'owed'>

/** The evaluation of a task without files, checks and findings, which is not stored. */
export const emptyEvaluation: Covered = {gates: [], files: [], checks: [], owed: []}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/**
 * The receipt of a completed task: a digest of its description, its result and the evidence that was accepted. It shows
 * later changes of the stored evidence; it is not a signature, since everybody who can write the store can compute it.
 * @param result JSON of the result, as stored
 * @returns `sha256:` and 64 hexadecimal digits
 */
export function receiptOf(
  {uid, description}: Pick<TaskRow, 'uid' | 'description'>,
  result: string | null,
  {gates, files, checks, owed}: Covered,
): string {
  const covered = {
    version: 1,
    task: uid,
    description: sha256(description),
    result: result === null ? null : sha256(result),
    gates: gates.filter(isNotable).map(({gate, verdict, shadow}) => [gate, verdict, shadow]),
    files: files.map(({path, change, digest = null}) => [path, change, digest]),
    checks: checks.map(({check, grade, passed, exit_code = null, output_digest = null, started_at_ms = null}) => [
      check,
      grade,
      passed,
      exit_code,
      output_digest,
      started_at_ms,
    ]),
    owed: owed.map(({kind, item, state, grade = null}) => [kind, item, state, grade]),
  }
  return `sha256:${sha256(JSON.stringify(covered))}`
}
