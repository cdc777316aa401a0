import {withoutUndefined} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import type {OrchestratorConfig, WorkspaceContext} from '../../workspace/index.js'
import {displayTask} from '../base/ids.js'
import type {Task, TaskResult} from '../base/task.js'
import {appendEvent} from '../events/event-log.js'
import {type Collected, collectEvidence} from '../evidence/collect.js'
import {readEvaluation, storeEvaluation} from '../evidence/evidence-rows.js'
import {type Evaluation, evaluateGates} from '../gates/gates.js'
import {isChanged} from '../gates/harness-state.js'
import {awaitHiddenChecks, extendClaim} from '../hidden/requests.js'
import {maxClaimMs} from '../lifecycle/claim.js'
import {
  completeRow,
  earlierReply,
  type Finisher,
  failRow,
  rememberReply,
  requeueRow,
  requireClaim,
  takeOver,
} from '../lifecycle/finish.js'
import {labelOf, requireRow, requireStatus, requireTask, type TaskRow} from '../lifecycle/task-rows.js'
import {feedback, withFeedback} from './feedback.js'
import {receiptOf} from './receipt.js'
import {hasContent, isNotable, type RecordedEvaluation, recordOf} from './record.js'

/** The result of a request to complete a task. */
export type Completion =
  | {ok: true; outcome: 'completed'; receipt: string; task: Task}
  | ({ok: true; outcome: 'requeued'} & Refusal)
  | ({ok: false; outcome: 'failed'} & Refusal)

/** Why a task is not completed. */
export interface Refusal {
  /** The gate that decided. */
  gate: string
  /** Number of times that a gate of this kind has returned the task, this one included. */
  iteration: number
  /** Maximum number of times. */
  cap: number
  /** What to correct, as text. */
  report: string
  /** The task, with the evaluation. */
  task: Task
}

export interface JudgeOptions {
  signal?: AbortSignal | undefined
  /** Called with the pid of each command that runs as a check. */
  onCheck?: (pid: number) => void
}

/** A judged completion that is not stored yet. */
export interface Judged {
  id: number
  result: TaskResult | undefined
  finisher: Finisher
  /** Generation of the claim at the time of judgement. */
  generation: number
  collected: Collected
  evaluation: Evaluation
}

/**
 * Collects the evidence for a completion and evaluates the gates. Changes nothing but the end of the claim, which is
 * extended for the duration of the checks. The daemon must be running if the workspace has hidden checks.
 * @throws task_not_found, invalid_transition, claim_required, claim_lost, hidden_checks_unread; the reason of the signal
 */
export async function judgeCompletion(
  context: WorkspaceContext,
  id: number,
  result: TaskResult | undefined,
  finisher: Finisher,
  {signal, onCheck}: JudgeOptions = {},
): Promise<Judged> {
  const row = requireRow(context, id)
  requireClaim(row, finisher)
  requireStatus(row, ['InProgress'], 'Completed')
  extendForChecks(context, row)
  const collected = await collectEvidence(context, row, result, {runsChecks: true, signal, onStart: onCheck})
  const judged = {id, result, finisher, generation: row.claim_generation, collected}
  const evaluation = evaluateGates(collected.evidence)
  // Work that another gate refuses is not worth a run, and the worker learns less from fewer answers.
  if (evaluation.blocking !== undefined) return {...judged, evaluation}
  const hiddenPassed = await awaitHiddenChecks(context, row, signal)
  return {...judged, evaluation: evaluateGates({...collected.evidence, hiddenPassed})}
}

/** Extends a client's claim until the checks have ended, with some time to inspect the files. */
function extendForChecks(context: WorkspaceContext, row: TaskRow): void {
  const {behavioralGateOnComplete, behavioralGateCommand: commands, exec} = context.config
  if (!behavioralGateOnComplete || commands.length === 0) return
  extendClaim(context, row, Math.min(commands.length * exec.timeoutMs + inspectionMs, maxClaimMs))
}

const inspectionMs = 60_000

/**
 * Stores a judgement, in the transaction of the caller. The task must still be held by the claim under which it was
 * judged.
 * @throws task_not_found, invalid_transition, claim_required, claim_lost
 */
export function applyJudgement(context: WorkspaceContext, judged: Judged): Completion {
  const {id, finisher, generation, evaluation} = judged
  const seen = requireRow(context, id)
  const earlier = earlierCompletion(context, seen, finisher)
  if (earlier !== undefined) return earlier
  const row = takeOver(context, seen, finisher)
  requireStatus(seen, ['InProgress'], 'Completed')
  if (seen.claim_generation !== generation)
    throw new SvcError('claim_lost', {
      task: displayTask(id),
      generation,
      current: seen.claim_generation,
      status: labelOf(seen),
    })
  const {blocking} = evaluation
  const {task, ...reply} =
    blocking === undefined ? accept(context, row, judged) : refuse(context, row, judged, blocking)
  rememberReply(context, seen, finisher, 'complete', reply)
  return {...reply, task} as Completion
}

/** The reply to an earlier request under the same claim, if there was one. */
export function earlierCompletion(context: WorkspaceContext, row: TaskRow, finisher: Finisher): Completion | undefined {
  const reply = earlierReply(row, finisher, 'complete')
  return reply === undefined ? undefined : ({...reply, task: requireTask(context, row.id)} as Completion)
}

function accept(context: WorkspaceContext, row: TaskRow, judged: Judged): Completion {
  const {id, result} = judged
  const record = recordOf(judged, {outcome: 'completed'}, context.now())
  // An empty evaluation replaces that of an earlier attempt, which does not belong to this receipt.
  if (hasContent(record) || readEvaluation(context, id) !== undefined) storeEvaluation(context, id, record)
  if (record.gates.some(isNotable)) emitGated(context, row, record)
  const paths = judged.collected.evidence.files.filter(isChanged).map(({path}) => path)
  if (paths.length > 0) appendEvent(context, {type: 'files_changed', task_id: id, agent_id: row.agent_id, paths})
  const receipt = receiptOf(row, result === undefined ? null : JSON.stringify(result), record)
  completeRow(context, row, result, {receipt})
  return {ok: true, outcome: 'completed', receipt, task: requireTask(context, id)}
}

/** The column in which each kind of gate counts, and its maximum. */
const counters = {
  debug: {column: 'debug_iterations', capOf: ({maxDebugIterations}: OrchestratorConfig) => maxDebugIterations},
  toestub: {
    column: 'toestub_iterations',
    capOf: ({maxToestubDebugIterations}: OrchestratorConfig) => maxToestubDebugIterations,
  },
  socrates: {
    column: 'socrates_iterations',
    capOf: ({maxSocratesDebugIterations}: OrchestratorConfig) => maxSocratesDebugIterations,
  },
} as const

function refuse(
  context: WorkspaceContext,
  row: TaskRow,
  judged: Judged,
  {gate, family}: NonNullable<Evaluation['blocking']>,
): Completion {
  const {id} = judged
  const {column, capOf} = counters[family]
  const cap = capOf(context.config)
  const isExhausted = row[column] >= cap
  const iteration = isExhausted ? row[column] : row[column] + 1
  const record = recordOf(judged, {outcome: isExhausted ? 'failed' : 'requeued', gate, iteration, cap}, context.now())
  storeEvaluation(context, id, record)
  emitGated(context, row, record)
  const report = feedback(record)
  if (isExhausted) failRow(context, row, `gate_exhausted:${gate}`)
  else
    requeueRow(context, row, `gate:${gate}`, {
      [column]: iteration,
      description: withFeedback(row.description, {family, gate, iteration, cap, report}),
    })
  const refusal = {gate, iteration, cap, report, task: {...requireTask(context, id), evaluation: record}}
  return isExhausted ? {ok: false, outcome: 'failed', ...refusal} : {ok: true, outcome: 'requeued', ...refusal}
}

function emitGated(context: WorkspaceContext, {id, agent_id}: TaskRow, record: RecordedEvaluation): void {
  const {outcome, gate, iteration, cap, gates, scan} = record
  appendEvent(context, {
    type: 'task_gated',
    task_id: id,
    agent_id,
    outcome: outcome === 'pending' ? 'requeued' : outcome,
    ...withoutUndefined({gate, iteration, cap}),
    gates: gates.filter(isNotable),
    ...(scan.findings.length === 0 ? {} : {scan}),
  })
}
