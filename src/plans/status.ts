import {withoutUndefined} from '../contracts/index.js'
import type {WorkspaceContext} from '../workspace/index.js'
import {nodesOf, type PlanRow, requirePlan} from './plan-rows.js'
import {type PlanStep, stepsOf} from './view.js'
import type {NodeStatus, PlanStatusWord, PlanStrategy} from './vocabulary.js'

/** Step counts of the latest version by status; superseded steps count as pending. */
export interface StepCounts {
  pending: number
  completed: number
  failed: number
  in_progress: number
  skipped: number
}

/** A step with its outcome. */
export interface StepStatus extends PlanStep {
  /** The latest task of the step. */
  task_id?: number
  attempts: number
  last_outcome?: 'completed' | 'failed'
  last_error?: string
  /** Why a ready step is not submitted, as a code and a sentence. It is retried. */
  held_reason?: string
}

/** An event in the history of a plan. */
export interface PlanEvent {
  at_ms: number
  kind: 'plan_session_created' | 'plan_version_created' | 'plan_node_status'
  version: number
  node_id?: string
  status?: NodeStatus
}

export interface PlanStatus {
  session_id: string
  goal: string
  status: PlanStatusWord
  execution_mode: PlanStrategy
  latest_version: number
  step_counts: StepCounts
  steps: StepStatus[]
  /** The latest events, newest first. */
  recent_events: PlanEvent[]
}

/** The status of a plan. @throws plan_not_found */
export function planStatus(context: WorkspaceContext, planId: string): PlanStatus {
  const plan = requirePlan(context, planId)
  const nodes = nodesOf(context, plan.plan_session_id, plan.current_version)
  const steps = withOutcomes(context, plan, stepsOf(context, nodes))
  return {
    session_id: plan.plan_session_id,
    goal: plan.goal_text,
    status: plan.status,
    execution_mode: plan.strategy,
    latest_version: plan.current_version,
    step_counts: countSteps(steps.map(({status}) => status)),
    steps,
    recent_events: recentEvents(context, plan),
  }
}

/** Ids of the sessions of a plan: its own, and that of its goal if there is one. @throws plan_not_found */
export function planSessions(context: WorkspaceContext, planId: string): string[] {
  const {plan_session_id, origin_session_id} = requirePlan(context, planId)
  return origin_session_id === null ? [plan_session_id] : [plan_session_id, origin_session_id]
}

const counted: Partial<Record<NodeStatus, keyof StepCounts>> = {
  completed: 'completed',
  failed: 'failed',
  in_progress: 'in_progress',
}

function countSteps(statuses: readonly NodeStatus[]): StepCounts {
  const counts: StepCounts = {pending: 0, completed: 0, failed: 0, in_progress: 0, skipped: 0}
  for (const status of statuses) counts[counted[status] ?? 'pending']++
  return counts
}

interface OutcomeRow {
  node_id: string
  attempts: number
  outcome: 'completed' | 'failed'
  error_text: string | null
}

/** Adds the outcome of each step. A bare column next to `max` comes from the row with the maximum. */
function withOutcomes(
  {store}: WorkspaceContext,
  {plan_session_id: id, current_version: version}: PlanRow,
  steps: PlanStep[],
): StepStatus[] {
  const outcomes = new Map(
    store
      .all<OutcomeRow>(
        `SELECT node_id, max(attempt_no) AS attempts, outcome, error_text FROM plan_node_attempts
WHERE plan_session_id = ? GROUP BY node_id`,
        [id],
      )
      .map((row) => [row.node_id, row]),
  )
  const tasks = new Map(
    store
      .all<{node_id: string; task_id: number}>(
        'SELECT node_id, max(task_id) AS task_id FROM plan_node_tasks WHERE plan_session_id = ? GROUP BY node_id',
        [id],
      )
      .map(({node_id, task_id}) => [node_id, task_id]),
  )
  const held = new Map(
    store
      .all<{node_id: string; held_reason: string}>(
        `SELECT node_id, held_reason FROM plan_nodes
WHERE plan_session_id = ? AND version = ? AND held_reason IS NOT NULL AND status = 'pending'`,
        [id, version],
      )
      .map(({node_id, held_reason}) => [node_id, held_reason]),
  )
  return steps.map((step) => {
    const {attempts = 0, outcome, error_text} = outcomes.get(step.node_id) ?? {}
    return {
      ...step,
      attempts,
      ...withoutUndefined({
        task_id: tasks.get(step.node_id),
        last_outcome: outcome,
        last_error: error_text ?? undefined,
        held_reason: held.get(step.node_id),
      }),
    }
  })
}

const maxEvents = 20

/**
 * The history in the tables of the plan, which does not depend on events or lineage being stored. A node that continues
 * in another version has no history in that version yet.
 */
const recentEvents = ({store}: WorkspaceContext, {plan_session_id: plan}: PlanRow): PlanEvent[] =>
  store
    .all<{at_ms: number; version: number; node_id: string | null; status: NodeStatus | null}>(
      `SELECT created_at AS at_ms, version, NULL AS node_id, NULL AS status, 0 AS rank, 0 AS ordinal FROM plan_versions
  WHERE plan_session_id = @plan
UNION ALL
SELECT created_at, version, node_id, outcome, 1, id FROM plan_node_attempts WHERE plan_session_id = @plan
UNION ALL
SELECT n.updated_at, n.version, n.node_id, n.status, 2, n.ordinal
  FROM plan_nodes n JOIN plan_versions v ON v.plan_session_id = n.plan_session_id AND v.version = n.version
  WHERE n.plan_session_id = @plan AND n.status IN ('queued', 'in_progress', 'cancelled')
    AND n.updated_at >= v.created_at
ORDER BY at_ms DESC, version DESC, rank DESC, ordinal DESC LIMIT @limit`,
      {plan, limit: maxEvents},
    )
    .map(({at_ms, version, node_id, status}) => ({
      at_ms,
      kind: node_id !== null ? 'plan_node_status' : version === 1 ? 'plan_session_created' : 'plan_version_created',
      version,
      ...withoutUndefined({node_id: node_id ?? undefined, status: status ?? undefined}),
    }))

export interface PlanFilter {
  status?: PlanStatusWord | undefined
  /** Session of the goal. */
  originSessionId?: string | undefined
  /** Only the plans that follow this one in the list. */
  before?: string | undefined
  limit?: number | undefined
}

/** A plan as an entry of a list. */
export interface PlanSummary {
  session_id: string
  origin_session_id?: string
  goal: string
  status: PlanStatusWord
  execution_mode: PlanStrategy
  latest_version: number
  total: number
  completed: number
  failed: number
  created_at_ms: number
  updated_at_ms: number
}

/** Maximum length of a goal in a list, characters. */
const maxExcerptLength = 200

/** Plans, newest first. @throws plan_not_found */
export function listPlans(
  context: WorkspaceContext,
  {status, originSessionId, before, limit = 50}: PlanFilter = {},
): PlanSummary[] {
  const {store, repositoryId} = context
  const start = before === undefined ? undefined : requirePlan(context, before)
  const count = (which: string) =>
    `(SELECT count(*) FROM plan_nodes WHERE plan_session_id = s.plan_session_id AND version = s.current_version${which})`
  return store
    .all<Omit<PlanSummary, 'origin_session_id'> & {origin_session_id: string | null}>(
      `SELECT plan_session_id AS session_id, origin_session_id, status, strategy AS execution_mode,
  iif(length(goal_text) <= @max, goal_text, substr(goal_text, 1, @max - 1) || '…') AS goal,
  current_version AS latest_version, ${count('')} AS total, ${count(" AND status = 'completed'")} AS completed,
  ${count(" AND status = 'failed'")} AS failed, created_at AS created_at_ms, updated_at AS updated_at_ms
FROM plan_sessions s
WHERE repository_id = @repository AND (@status IS NULL OR status = @status)
  AND (@origin IS NULL OR origin_session_id = @origin)
  AND (@before IS NULL OR created_at <= @created AND (created_at, plan_session_id) < (@created, @before))
ORDER BY created_at DESC, plan_session_id DESC LIMIT @limit`,
      {
        repository: repositoryId,
        status: status ?? null,
        origin: originSessionId ?? null,
        before: before ?? null,
        created: start?.created_at ?? null,
        max: maxExcerptLength,
        limit,
      },
    )
    .map(({origin_session_id: origin, ...row}) => ({
      ...row,
      ...withoutUndefined({origin_session_id: origin ?? undefined}),
    }))
}
