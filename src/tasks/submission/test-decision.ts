import type {ManifestEntry} from '../../contracts/index.js'
import type {TaskCategory, TestDecision, WorkspaceContext} from '../../workspace/index.js'
import {requireRow} from '../lifecycle/task-rows.js'

export interface TestVerdict {
  decision: TestDecision
  /** A clause with the reason. */
  rationale: string
}

/** What a decision depends on. */
export interface TestSubject {
  files: readonly ManifestEntry[]
  category: TaskCategory
  /** 1 to 10. */
  complexity: number
}

export interface TestPolicy {
  /** Number of written files from which tests are required. */
  fileCountThreshold: number
  /** Complexity from which tests of a change are required. */
  complexityThreshold: number
}

const documents = /\.(?:md|mdx|txt|rst|adoc)$/i

/** Categories of work that changes files, also if the files are not known yet. */
const changing: ReadonlySet<TaskCategory> = new Set(['codegen', 'debugging', 'parsing', 'typechecking'])

/** Decides whether the work of a task or of a plan step should be tested. */
export function decideTests(
  {files, category, complexity}: TestSubject,
  {fileCountThreshold, complexityThreshold}: TestPolicy,
): TestVerdict {
  const writes = files.filter(({access}) => access === 'write')
  const isKnownUnchanging = writes.length === 0 && (files.length > 0 || category !== 'general')
  if (category === 'testing') return {decision: 'skip', rationale: 'it is a test itself'}
  if (isKnownUnchanging && !changing.has(category)) return {decision: 'skip', rationale: 'it changes no files'}
  if (writes.length > 0 && writes.every(({path}) => documents.test(path)))
    return {decision: 'skip', rationale: 'it only changes documentation'}
  if (writes.length >= fileCountThreshold)
    return {decision: 'required', rationale: `it writes ${writes.length} files; the threshold is ${fileCountThreshold}`}
  const isChange = writes.length > 0 || changing.has(category)
  if (isChange && complexity >= complexityThreshold)
    return {decision: 'required', rationale: `its complexity is ${complexity}; the threshold is ${complexityThreshold}`}
  if (writes.length > 0) return {decision: 'recommended', rationale: 'it changes a few files'}
  return {decision: 'deferred', rationale: 'the files that it changes are not known yet'}
}

/** Stores the decision about a task: that of its submission, or else that of the policy. */
export function recordTestDecision(
  {store, config, now}: WorkspaceContext,
  taskId: number,
  {test_decision: decision, ...subject}: TestSubject & {test_decision?: TestDecision},
): void {
  const verdict: TestVerdict =
    decision === undefined
      ? decideTests(subject, config.testDecisionPolicy)
      : {decision, rationale: 'it was submitted so'}
  store.run('INSERT INTO plan_test_decisions (task_id, decision, rationale, recorded_at_ms) VALUES (?, ?, ?, ?)', [
    taskId,
    verdict.decision,
    verdict.rationale,
    now(),
  ])
}

export interface RecordedTestDecision extends TestVerdict {
  task_id: number
  recorded_at_ms: number
}

/** The decision about a task. @throws task_not_found */
export function testDecisionOf(context: WorkspaceContext, taskId: number): RecordedTestDecision {
  const {id} = requireRow(context, taskId)
  return context.store.get<RecordedTestDecision>(
    'SELECT task_id, decision, rationale, recorded_at_ms FROM plan_test_decisions WHERE task_id = ?',
    [id],
  ) as RecordedTestDecision
}
