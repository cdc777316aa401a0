import {randomUUID} from 'node:crypto'
import {setTimeout as sleep} from 'node:timers/promises'
import {SvcError} from '../../errors/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {hasHiddenChecks, requireHiddenChecksRead} from '../base/hidden-reader.js'
import {displayTask} from '../base/ids.js'
import type {Task} from '../base/task.js'
import {boundNames} from '../gates/harness-state.js'
import {labelOf, requireRow, type TaskRow, toTask} from '../lifecycle/task-rows.js'

/**
 * Only the daemon runs hidden checks: the process that completes a task may be the worker's. It stores a request with the
 * task and waits for the answer, which says only whether the checks passed.
 */
export interface HiddenRequest {
  task_id: number
  /** Unique id. */
  request: string
}

/** Interval between two looks for the answer, ms. */
const pollMs = 50
/** Duration by which a claim is extended during the checks, ms, and the interval between two extensions. */
const extensionMs = 60_000
const extendEveryMs = 10_000

/**
 * Waits until the daemon has run the hidden checks on the work of a task, whose claim is extended meanwhile.
 * @returns whether they passed; undefined if the task does not have to pass any
 * @throws hidden_checks_unread, claim_lost; the reason of the signal
 */
export async function awaitHiddenChecks(
  context: WorkspaceContext,
  row: TaskRow,
  signal: AbortSignal | undefined,
): Promise<boolean | undefined> {
  if (!hasHiddenChecks(context) || isCheckRun(context, toTask(row))) return undefined
  const {store, repositoryId} = context
  const request = randomUUID()
  store.transaction(() => {
    requireHiddenChecksRead(context)
    store.run(
      `INSERT INTO orch_task_evidence (task_id, repository_id, hidden_request) VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET hidden_request = excluded.hidden_request, hidden_passed = NULL`,
      [row.id, repositoryId, request],
    )
  })
  for (let extendedAt = Number.NEGATIVE_INFINITY; ; await sleep(pollMs, undefined, {signal}).catch(() => undefined)) {
    signal?.throwIfAborted()
    const answer = answerOf(context, row.id, request)
    if (answer !== undefined) return answer
    requireUnchanged(context, row)
    requireHiddenChecksRead(context)
    if (performance.now() - extendedAt < extendEveryMs) continue
    extendedAt = performance.now()
    extendClaim(context, row, extensionMs)
  }
}

function answerOf({store}: WorkspaceContext, taskId: number, request: string): boolean | undefined {
  const answer = store.get<{passed: number | null}>(
    'SELECT hidden_passed AS passed FROM orch_task_evidence WHERE task_id = ? AND hidden_request = ?',
    [taskId, request],
  )
  return answer?.passed == null ? undefined : answer.passed === 1
}

/** A task that was cancelled, doubted or given to another worker gets no answer. @throws claim_lost */
function requireUnchanged(context: WorkspaceContext, {id, claim_generation: generation}: TaskRow): void {
  const now = requireRow(context, id)
  if (now.status !== 'InProgress' || now.claim_generation !== generation)
    throw new SvcError('claim_lost', {
      task: displayTask(id),
      generation,
      current: now.claim_generation,
      status: labelOf(now),
    })
}

/** Extends a client's claim. */
export function extendClaim(
  {store, now}: WorkspaceContext,
  {id, claim_generation: generation, claim_expires_ms: expires}: TaskRow,
  ms: number,
): void {
  if (expires === null) return
  store.run(
    `UPDATE orch_tasks SET claim_expires_ms = max(claim_expires_ms, ?)
WHERE id = ? AND status = 'InProgress' AND claim_generation = ?`,
    [now() + ms, id, generation],
  )
}

/**
 * True if the task only runs a check of the gates or of an unfinished task: its exit status is evidence for other work,
 * which may not be finished.
 */
function isCheckRun({store, repositoryId, config}: WorkspaceContext, {exec}: Task): boolean {
  if (exec === undefined || Object.keys(exec.params).length > 0) return false
  if (config.behavioralGateCommand.includes(exec.template)) return true
  const rows = store.all<{harness: string}>(
    `SELECT request ->> '$.harness' AS harness FROM orch_tasks
WHERE repository_id = ? AND status = 'InProgress' AND request ->> '$.harness' IS NOT NULL`,
    [repositoryId],
  )
  return rows
    .map(({harness}) => JSON.parse(harness) as NonNullable<Task['harness']>)
    .some(
      ({required_checks: required, accept}) =>
        required.some(({check}) => check === exec.template) ||
        accept.some((line) => boundNames(line, 'check').includes(exec.template)),
    )
}

/** Requests without an answer. */
export const openHiddenRequests = ({store, repositoryId}: WorkspaceContext): HiddenRequest[] =>
  store.all<HiddenRequest>(
    `SELECT e.task_id, e.hidden_request AS request FROM orch_task_evidence e JOIN orch_tasks t ON t.id = e.task_id
WHERE t.repository_id = ? AND t.status = 'InProgress' AND e.hidden_request IS NOT NULL AND e.hidden_passed IS NULL`,
    [repositoryId],
  )

/** Stores the answer to a request, unless a later one has replaced it. */
export function answerHiddenRequest(
  {store}: WorkspaceContext,
  {task_id, request}: HiddenRequest,
  passed: boolean,
): void {
  store.run('UPDATE orch_task_evidence SET hidden_passed = ? WHERE task_id = ? AND hidden_request = ?', [
    passed ? 1 : 0,
    task_id,
    request,
  ])
}
