import {localProvider} from '../../inference-client/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import type {Task} from '../base/task.js'
import {rollUp} from './reliability.js'

/** What an observation of an agent is about. */
export type TrustDimension = 'task_completion' | 'handoff'

/** An outcome of a task that affects the trust in an agent. */
export interface TrustObservation {
  /** Name of the agent; its records outlive it. */
  agentName: string
  dimension: TrustDimension
  taskId: number
  phase: string
  category: Task['category']
  /** Model that produced the result, if any. */
  model?: string | undefined
  succeeded: boolean
}

/** A moving average of observations. */
export interface CompletionTrust {
  /** 0 to 1. */
  score: number
  /** Number of observations. */
  outcomes: number
}

/** Columns that narrow a rollup; an empty text stands for all values. */
interface RollupKey {
  domain: string
  class: string
  provider: string
  model: string
}

const overall: RollupKey = {domain: '', class: '', provider: '', model: ''}

/**
 * Appends an observation and updates its moving averages: that of its phase, category and model, that of its phase, and
 * the overall one.
 * @returns the overall moving average
 */
export function recordObservation(context: WorkspaceContext, observation: TrustObservation): number {
  const {store, repositoryId, now} = context
  const {agentName, dimension, taskId, phase, category, model = '', succeeded} = observation
  const value = succeeded ? 1 : 0
  const key = {domain: phase, class: category, provider: model === '' ? '' : localProvider, model}
  store.run(
    `INSERT INTO trust_observations (repository_id, entity_type, entity_id, dimension, domain, class, provider, model, value,
  weight, task_id, observed_at_ms) VALUES (?, 'agent', ?, ?, ?, ?, ?, ?, ?, 1, ?, ?)`,
    [repositoryId, agentName, dimension, key.domain, key.class, key.provider, key.model, value, taskId, now()],
  )
  const update = (each: RollupKey) => updateRollup(context, {agentName, dimension, value, ...each})
  update(key)
  update({...overall, domain: phase})
  return update(overall)
}

function updateRollup(
  {store, repositoryId, now, config}: WorkspaceContext,
  {
    agentName,
    dimension,
    value,
    ...key
  }: RollupKey & Pick<TrustObservation, 'agentName' | 'dimension'> & {value: number},
): number {
  const columns = [repositoryId, agentName, dimension, key.domain, key.class, key.provider, key.model]
  const known = store.get<{score: number}>(
    `SELECT score FROM trust_rollups WHERE repository_id = ? AND entity_type = 'agent' AND entity_id = ? AND dimension = ?
  AND domain = ? AND class = ? AND provider = ? AND model = ?`,
    columns,
  )
  const score = rollUp(known?.score, {value}, config.trustEwmaAlpha)
  store.run(
    `INSERT INTO trust_rollups (repository_id, entity_type, entity_id, dimension, domain, class, provider, model, score,
  observations, updated_at_ms) VALUES (?, 'agent', ?, ?, ?, ?, ?, ?, ?, 1, ?)
ON CONFLICT DO UPDATE SET score = excluded.score, observations = observations + 1, updated_at_ms = excluded.updated_at_ms`,
    [...columns, score, now()],
  )
  return score
}

/** Moving averages of completed tasks by agent name: of the tasks of a phase, or of all tasks if there are none of it. */
export function completionTrusts(
  {store, repositoryId}: WorkspaceContext,
  agentNames: readonly string[],
  phase = '',
): ReadonlyMap<string, CompletionTrust> {
  const rows = store.all<CompletionTrust & {name: string}>(
    `SELECT entity_id AS name, score, observations AS outcomes FROM trust_rollups
WHERE repository_id = ? AND entity_type = 'agent' AND entity_id IN (SELECT value FROM json_each(?))
  AND dimension = 'task_completion' AND domain IN ('', ?) AND class = '' AND provider = '' AND model = ''
ORDER BY domain`,
    [repositoryId, JSON.stringify(agentNames), phase.toLowerCase()],
  )
  // In this order, the rollup of the phase replaces the overall one.
  return new Map(rows.map(({name, ...trust}) => [name, trust]))
}

/**
 * Moving average of the completed and failed tasks of an agent, undefined if there are none.
 * @param phase phase label whose tasks take precedence, if the agent has finished any
 */
export const completionTrustOf = (
  context: WorkspaceContext,
  agentName: string,
  phase?: string,
): CompletionTrust | undefined => completionTrusts(context, [agentName], phase).get(agentName)

/** Stored success rate of an agent, 0 to 1; undefined if it has not finished any task. */
export const reliabilityOfAgent = ({store, repositoryId}: WorkspaceContext, name: string): number | undefined =>
  store.get<{reliability: number}>(
    "SELECT reliability FROM reliability_scores WHERE repository_id = ? AND entity_type = 'agent' AND entity_id = ?",
    [repositoryId, name],
  )?.reliability

/** Maximum number of observations to delete per prune. */
const pruneSize = 1000
const dayMs = 86_400_000

/** Deletes observations older than `days` days, a limited number per call. Returns the number deleted. */
export const pruneObservations = ({store, repositoryId, now}: WorkspaceContext, days: number): number =>
  store.run(
    `DELETE FROM trust_observations WHERE id IN (SELECT id FROM trust_observations
  WHERE repository_id = ? AND (observed_at_ms < ? OR observed_at_ms > ?) LIMIT ?)`,
    // Observations dated in the future were written while the clock was wrong.
    [repositoryId, now() - days * dayMs, now() + dayMs, pruneSize],
  ).changes
