import type {TaskContext} from '../base/context.js'
import {newStanding, observeOutcome as observe, reliabilityOf, rollUp, type TrustTier} from './reliability.js'

/** @property request JSON of the task request */
interface Subject {
  agent_id: number
  agent_name: string
  request: string
}

/**
 * Records the outcome of a task: the agent's reliability, the reliability of the skill it used, and its trust. The
 * records are keyed by agent name, which outlives the agent.
 */
export function observeOutcome(
  context: TaskContext,
  {agent_id, agent_name: name, request}: Subject,
  succeeded: boolean,
): void {
  context.store.run('UPDATE orch_agents SET last_active_ms = ? WHERE id = ?', [context.now(), agent_id])
  count(context, 'agent', name, succeeded)
  const {active_skill: skill} = JSON.parse(request) as {active_skill?: string}
  if (skill !== undefined) count(context, 'agent_skill', `${name}\0${skill}`, succeeded)
  trust(context, name, succeeded)
}

function count({store, repositoryId, now}: TaskContext, type: string, id: string, succeeded: boolean): void {
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
  completion: number | null
  tier: TrustTier
  outcomes: number
  below_floor: number
}

function trust({store, repositoryId, now, config}: TaskContext, name: string, succeeded: boolean): void {
  const row = store.get<TrustRow>(
    'SELECT score, variance, completion, tier, outcomes, below_floor FROM agent_trust WHERE repository_id = ? AND agent_name = ?',
    [repositoryId, name],
  )
  const before =
    row === undefined
      ? newStanding
      : {...newStanding, ...row, trust: row.score, belowFloor: row.below_floor, pinned: row.tier === 'system'}
  const standing = observe(before, succeeded, config)
  const completion = rollUp(row?.completion ?? undefined, {value: succeeded ? 1 : 0}, config.trustEwmaAlpha)
  store.run(
    `INSERT INTO agent_trust (repository_id, agent_name, score, variance, completion, tier, outcomes, below_floor, updated_at_ms)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET score = excluded.score, variance = excluded.variance,
  completion = excluded.completion, tier = excluded.tier, outcomes = excluded.outcomes,
  below_floor = excluded.below_floor, updated_at_ms = excluded.updated_at_ms`,
    [
      repositoryId,
      name,
      standing.trust,
      standing.variance,
      completion,
      standing.tier,
      standing.outcomes,
      standing.belowFloor,
      now(),
    ],
  )
}
