import {isDeepStrictEqual} from 'node:util'
import type {OrchAcceptedV1, SubmitTaskV1} from '../../contracts/index.js'
import {Exit, excerpt, SvcError} from '../../errors/index.js'
import {confidencePolicy, type TaskLabel, type WorkspaceContext} from '../../workspace/index.js'
import {estimateTokens, requireBudget} from '../agents/budget.js'
import {checkScope} from '../agents/scope.js'
import {reviewSubmission, type Submitter} from '../attention/review.js'
import {displayTask} from '../base/ids.js'
import {mayDelegate} from '../base/may-delegate.js'
import {putContext} from '../context/context-store.js'
import {envelopeKey, envelopeTtlSecs} from '../context/envelope.js'
import {evidenceContextOf, taskEnvelope} from '../context/evidence-context.js'
import {appendEvent} from '../events/event-log.js'
import {appendLineage} from '../events/lineage.js'
import {droppedFrom, noHarness} from '../gates/dropped-items.js'
import {judgeEvidence} from '../gates/judge-evidence.js'
import {batchOrder, openDependencies} from '../lifecycle/dependencies.js'
import {requireNotStopped} from '../lifecycle/emergency-stop.js'
import {requireRow, selectTask, type TaskRequest, type TaskRow} from '../lifecycle/task-rows.js'
import {isDue, recordAffinity, reserveWrites, writesOf} from '../locks.js'
import {type Placement, placeTask} from '../routing/place.js'
import {emitPlacement} from '../routing/placement-event.js'
import {type InsertedTask, insertTask} from './insert.js'
import {makeRoom} from './make-room.js'
import {recordPromptWarnings} from './prompt-warnings.js'
import {type NewTask, readSubmission} from './submission.js'

/** The reply for an accepted task. */
export interface Accepted extends OrchAcceptedV1 {
  status: TaskLabel
}

export interface SubmitOptions {
  /**
   * With `attention_enabled`, tasks of agents may need the approval of a person. Submissions through the tool server and
   * JSON-RPC count as those of an agent; those by command or by a program that uses the library, as those of a person.
   */
  submitter?: Submitter
}

/**
 * Submits a task in one transaction: validates it, finds an agent, reserves its files, and inserts it with its events.
 * @throws orchestrator_disabled, stopped, task_invalid, task_path_escapes, dependency_unknown, dependency_failed,
 *   lock_conflict, scope_denied, exec_disabled and the errors of `resolveArgv`, max_agents_reached, queue_full,
 *   idempotency_mismatch, context_full, doom_loop, budget_exceeded
 */
export function submitTask(
  context: WorkspaceContext,
  submission: SubmitTaskV1,
  {submitter = 'person'}: SubmitOptions = {},
): Accepted {
  requireEnabled(context)
  refusePlanned(submission, 'The task')
  const task = readSubmission(submission, context)
  if (task.batch_dependencies.length > 0)
    throw new SvcError('task_invalid', {
      place: 'The task',
      fault: 'temp_deps is only allowed in a batch',
    })
  return context.store.transaction(() => acceptTask(context, task, {dependsOn: task.request.depends_on, submitter}))
}

/** Plans are made of goals by the callers of this module. @throws task_invalid */
function refusePlanned({planning_mode: mode}: SubmitTaskV1, place: string): void {
  if (mode === 'force_plan' || mode === 'workflow_only')
    throw new SvcError('task_invalid', {
      place,
      fault: `planning_mode ${mode} is only allowed for a task that is submitted alone, by command, tool or method`,
    })
}

const maxBatch = 200_000

/** Submits a batch, all tasks or none; tasks may depend on each other. @throws as `submitTask`, and dependency_cycle */
export function submitBatch(
  context: WorkspaceContext,
  submissions: readonly SubmitTaskV1[],
  {submitter = 'person'}: SubmitOptions = {},
): Accepted[] {
  requireEnabled(context)
  if (submissions.length > maxBatch)
    throw new SvcError('task_invalid', {place: 'The batch', fault: `it has more than ${maxBatch} tasks`})
  const nameOf = (place: number) => taskOfBatch(place, submissions[place])
  const tasks = submissions.map((submission, i) =>
    inBatch(nameOf(i), () => {
      refusePlanned(submission, nameOf(i))
      return readSubmission(submission, context, nameOf(i))
    }),
  )
  const dependencies = tasks.map(({batch_dependencies: places}) => places)
  const order = batchOrder(dependencies, (place) => taskOfBatch(place, submissions[place], ''))
  return context.store.transaction(() => {
    const taken: Accepted[] = []
    for (const place of order) {
      const task = tasks[place] as NewTask
      const within = task.batch_dependencies.map((other) => (taken[other] as Accepted).task_id)
      const dependsOn = [...new Set([...task.request.depends_on, ...within])]
      taken[place] = inBatch(nameOf(place), () => acceptTask(context, task, {dependsOn, submitter}))
    }
    return taken
  })
}

/** Maximum length of a description in the name of a batch task, in characters. */
const maxNameLength = 60

/** Name of a batch task in errors: its number, from 1, and its description. */
export function taskOfBatch(place: number, submission: unknown, batch = ' of the batch'): string {
  const {description} = (submission ?? {}) as {description?: unknown}
  const text =
    typeof description === 'string'
      ? description
          .slice(0, 2 * maxNameLength)
          .replaceAll(/[\p{Cc}\s]+/gu, ' ')
          .trim()
      : ''
  return `Task ${place + 1}${batch}${text === '' ? '' : ` ("${excerpt(text, maxNameLength)}")`}`
}

/** Adds the name of the batch task to errors. */
function inBatch<T>(name: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof SvcError) || error.exit === Exit.unavailable || error.code === 'task_invalid') throw error
    throw new SvcError(error.code, error.params, {message: `${name}: ${error.message}`, cause: error})
  }
}

/** @throws orchestrator_disabled, stopped */
export function requireEnabled(context: WorkspaceContext): void {
  if (!context.config.enabled) throw new SvcError('orchestrator_disabled', {})
  requireNotStopped(context)
}

/**
 * Accepts a validated task in a transaction of the caller: finds its duplicate, places it, inserts it, reserves its
 * files and records its events.
 */
function acceptTask(
  context: WorkspaceContext,
  task: NewTask,
  {dependsOn, submitter}: {dependsOn: readonly number[]; submitter: Submitter},
): Accepted {
  const duplicate = findDuplicate(context, task)
  if (duplicate !== undefined) return {...accepted(context, duplicate), duplicate: true}
  const open = openDependencies(context, dependsOn)
  const placement = place(context, task, dependsOn)
  const outside = checkScope(context, placement.agent, writesOf(task.file_manifest))
  const {file_manifest: files} = task
  const subject = {...task, files: files.length, writes: writesOf(files).length, agent: placement.agent}
  const review = reviewSubmission(context, subject, submitter)
  const row = insertTask(context, task, {placement, dependsOn, open, review})
  reserveFiles(context, task, row)
  storeEnvelope(context, task, row)
  requireAnswerable(context, row.id)
  recordSubmission(context, task, row, placement)
  const {name} = placement.agent
  const warnings = [
    ...outside.map((path) => `${path} is outside the scope of ${name}.`),
    ...recordPromptWarnings(context, task, row),
  ]
  const reply = accepted(context, {...row, agent_name: name})
  return warnings.length === 0 ? reply : {...reply, conflict_warnings: warnings}
}

/** Rejects a task whose evidence is too weak for any answer, if answers need evidence. @throws evidence_insufficient */
function requireAnswerable(context: WorkspaceContext, id: number): void {
  const {config} = context
  if (!config.socratesGateEnforce) return
  const {context: evidence} = evidenceContextOf(context, requireRow(context, id))
  if (evidence === undefined) return
  const judgement = judgeEvidence(evidence, confidencePolicy(config.socratesPolicy))
  if (judgement.risk_decision === 'abstain')
    throw new SvcError('evidence_insufficient', {confidence: judgement.confidence_estimate})
}

function findDuplicate({store, repositoryId}: WorkspaceContext, task: NewTask): TaskRow | undefined {
  const key = task.idempotency_key
  if (key === undefined) return undefined
  const row = store.get<TaskRow>(`${selectTask} WHERE t.repository_id = ? AND t.idempotency_key = ?`, [
    repositoryId,
    key,
  ])
  if (row !== undefined && !(asksTheSame(row, task) && taskEnvelope({store}, row.id) === task.envelope))
    throw new SvcError('idempotency_mismatch', {key, task: displayTask(row.id)})
  return row
}

/**
 * True if an existing task has the same request as a new one. The ids of dependencies in a batch may differ, and the
 * task may have gained blocks in its description and requirements in its harness.
 */
function asksTheSame(row: TaskRow, task: NewTask): boolean {
  const {depends_on: _, is_targeted: __, harness: owed = noHarness, ...known} = JSON.parse(row.request) as TaskRequest
  const {depends_on: ___, is_targeted: ____, harness = noHarness, ...asked} = task.request
  const hasGained = hasGainedBlocks(row.description, task.description)
  return (
    (hasGained ? droppedFrom(harness, owed).length === 0 : isDeepStrictEqual(owed, harness)) &&
    (hasGained || row.description === task.description) &&
    row.processor === task.processor &&
    row.file_manifest === JSON.stringify(task.file_manifest) &&
    isDeepStrictEqual(known, JSON.parse(JSON.stringify(asked)))
  )
}

/** True if a description is a submitted one followed by blocks such as `[RESOLUTION]`, each after a blank line. */
const hasGainedBlocks = (description: string, submitted: string): boolean =>
  description.startsWith(submitted) && /^\n\n\[[A-Z][A-Z0-9 -]*\]/.test(description.slice(submitted.length))

/** Finds the agent for a task. @throws queue_full, max_agents_reached, doom_loop, budget_exceeded */
function place(context: WorkspaceContext, task: NewTask, dependsOn: readonly number[]): Placement {
  const room = makeRoom(context, task, dependsOn)
  const {target_agent, description, phase_label, file_manifest} = task
  const {capability_requirements: requirements, active_skill: skill} = task.request
  const placement = placeTask(context, {
    description,
    phase_label,
    file_manifest,
    target_agent: room ?? target_agent,
    requirements,
    skill,
  })
  requireBudget(context, placement.agent, estimateTokens(description, file_manifest.length))
  return placement
}

/**
 * Reserves the files of a task that may start now; other tasks reserve them later. Records the affinity in any case.
 */
function reserveFiles(context: WorkspaceContext, task: NewTask, row: InsertedTask): void {
  if (row.status === 'Queued' && isDue(context, task.not_before_ms)) reserveWrites(context, row, task.file_manifest)
  recordAffinity(context, row.agent_id, writesOf(task.file_manifest))
}

/**
 * Stores the context envelope of a task with it, and as the current one of its session. Other tasks have no row of
 * evidence before they are completed.
 */
function storeEnvelope(
  context: WorkspaceContext,
  {envelope, envelope_violations: violations, session_id}: NewTask,
  {id, agent_id}: InsertedTask,
): void {
  if (envelope === undefined) return
  context.store.run('INSERT INTO orch_task_evidence (task_id, repository_id, envelope) VALUES (?, ?, ?)', [
    id,
    context.repositoryId,
    envelope,
  ])
  if (session_id !== undefined)
    putContext(context, {key: envelopeKey(session_id), value: envelope, ttlSecs: envelopeTtlSecs})
  if (violations.length > 0)
    appendEvent(context, {
      type: 'context_envelope_violation',
      task_id: id,
      agent_id,
      violations: [...violations],
    })
}

function recordSubmission(
  context: WorkspaceContext,
  task: NewTask,
  {id, status, agent_id}: InsertedTask,
  placement: Placement,
): void {
  const description = excerpt(task.description, maxExcerptLength)
  appendEvent(context, {type: 'task_submitted', task_id: id, agent_id, description, status})
  // Where a task that may be delegated runs is decided, and emitted, when it is due.
  if (!mayDelegate(context.config, task)) emitPlacement(context, {id, status, trace_id: task.trace_id}, placement)
  appendLineage(context, 'task_submitted', {...task, id, agent_id}, {processor: task.processor})
}

/** Maximum length of a description in an event, which is not a copy of the task; characters. */
const maxExcerptLength = 200

function accepted({config, isKept}: WorkspaceContext, row: InsertedTask & {agent_name: string}): Accepted {
  const {id, uid, agent_id, agent_name, status, placement_reason, trace_id} = row
  return {
    task_id: id,
    display_id: displayTask(id),
    uid,
    agent_id,
    agent_name,
    status,
    placement_reason,
    trace_id,
    ...(config.orchestrationV2Enabled && isKept ? {orchestration_contract: 'v2' as const} : {}),
  }
}
