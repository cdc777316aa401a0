import type {WorkspaceContext} from '../../workspace/index.js'
import type {Task, TaskResult} from '../base/task.js'
import {newStanding, observeOutcome as observe, reliabilityOf, type TrustTier} from './reliability.js'
import {recordObservation, type TrustDimension} from './trust.js'

/** @property request JSON of the task request */
interface Subject {
  id: number
  agent_id: number
  agent_name: string
  phase_label: string
  category: Task['category']
  request: string
}

/**
 * Records the outcome of a task: the agent's reliability, the reliability of the skill it used, its trust, and the
 * penalties that routing applies to its next tasks. The records are keyed by agent name, which outlives the agent.
 */
export function observeOutcome(
  context: WorkspaceContext,
  subject: Subject,
  succeeded: boolean,
  result?: TaskResult,
): void {
  const {agent_id, agent_name: name, request} = subject
  context.store.run('UPDATE orch_agents SET last_active_ms = ? WHERE id = ?', [context.now(), agent_id])
  count(context, 'agent', name, succeeded)
  const {active_skill: skill} = JSON.parse(request) as {active_skill?: string}
  if (skill !== undefined) count(context, 'agent_skill', `${name}\0${skill}`, succeeded)
  observeTrust(context, 'task_completion', subject, succeeded, modelOf(result))
  penalise(context, subject, succeeded)
}

/** Records whether a hand-over by an agent was accepted, which is not an outcome of the task. */
export const observeHandoff = (context: WorkspaceContext, subject: Subject, accepted: boolean): void =>
  observeTrust(context, 'handoff', subject, accepted)

function observeTrust(
  context: WorkspaceContext,
  dimension: TrustDimension,
  {id: taskId, agent_name: agentName, phase_label: phase, category}: Subject,
  succeeded: boolean,
  model?: string,
): void {
  trust(context, agentName, succeeded)
  const score = recordObservation(context, {agentName, dimension, taskId, phase, category, model, succeeded})
  // Routing reads the rollups; the column is kept for other programs that read it.
  if (dimension === 'task_completion')
    context.store.run('UPDATE agent_trust SET completion = ? WHERE repository_id = ? AND agent_name = ?', [
      score,
      context.repositoryId,
      agentName,
    ])
}

/** Maximum length of a model name, as in a submission. */
const maxModelLength = 512

/** The model that the processor of a task reported. */
function modelOf(result: TaskResult | undefined): string | undefined {
  const model: unknown = result?.model
  return typeof model === 'string' ? model.slice(0, maxModelLength) : undefined
}

/** Updates what the routing terms of shard tasks read: failed validations in a row, and the pause of a reducer. */
function penalise(context: WorkspaceContext, {agent_id: id, phase_label: phase}: Subject, succeeded: boolean): void {
  const {store, now, config} = context
  if (phase === 'shard_validate')
    store.run('UPDATE orch_agents SET validation_failures = iif(?, 0, validation_failures + 1) WHERE id = ?', [
      succeeded ? 1 : 0,
      id,
    ])
  if (phase === 'reduce' && !succeeded)
    store.run('UPDATE orch_agents SET reducer_cooldown_until_ms = ? WHERE id = ?', [
      now() + config.repoReduceConflictCooldownMs,
      id,
    ])
}

function count({store, repositoryId, now}: WorkspaceContext, type: string, id: string, succeeded: boolean): void {
  const known = store.get<{success_count: number; failure_count: number}>(
    'SELECT success_count, failure_count FROM reliability_scores WHERE repository_id = ? AND entity_type = ? AND entity_id = ?',
    [repositoryId, type, id],
  )
  const successes = (known?.success_count ?? 0) + (succeeded ? 1 : 0)
  const failures = (known?.failure_count ?? 0) + (succeeded ? 0 : 1)
  store.run(
    `INSERT INTO reliability_scores (repository_id, entity_type, entity_id, reliability, success_count, failure_count, updated_at_ms)
VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET reliability = excluded.reliability,
  success_count = excluded.success_count, failure_count = excluded.failure_count, updated_at_ms = excluded.updated_at_ms`,
    [repositoryId, type, id, reliabilityOf(successes, failures), successes, failures, now()],
  )
}

interface TrustRow {
  score: number
  variance: number
  tier: TrustTier
  outcomes: number
  below_floor: number
}

function trust({store, repositoryId, now, config}: WorkspaceContext, name: string, succeeded: boolean): void {
  const row = store.get<TrustRow>(
    'SELECT score, variance, tier, outcomes, below_floor FROM agent_trust WHERE repository_id = ? AND agent_name = ?',
    [repositoryId, name],
  )
  const before =
    row === undefined
      ? newStanding
      : {...newStanding, ...row, trust: row.score, belowFloor: row.below_floor, pinned: row.tier === 'system'}
  const standing = observe(before, succeeded, config)
  store.run(
    `INSERT INTO agent_trust (repository_id, agent_name, score, variance, tier, outcomes, below_floor, updated_at_ms)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET score = excluded.score, variance = excluded.variance,
  tier = excluded.tier, outcomes = excluded.outcomes,
  below_floor = excluded.below_floor, updated_at_ms = excluded.updated_at_ms`,
    [
      repositoryId,
      name,
      standing.trust,
      standing.variance,
      standing.tier,
      standing.outcomes,
      standing.belowFloor,
      now(),
    ],
  )
}
