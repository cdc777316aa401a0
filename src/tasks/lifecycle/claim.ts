import {SvcError} from '../../errors/index.js'
import type {AgentActivity, WorkspaceContext} from '../../workspace/index.js'
import {requireAgent} from '../agents/agent-rows.js'
import {requireHiddenChecksRead} from '../base/hidden-reader.js'
import {displayTask} from '../base/ids.js'
import {appendEvent} from '../events/event-log.js'
import {type Started, startExternal} from './dispatch.js'
import {requireNotStopped} from './emergency-stop.js'
import {failOrRetry, failRow, requeueRow} from './finish.js'
import {labelOf, requireRow, type TaskRow} from './task-rows.js'

/** Heartbeats that a client may miss before its claim expires. */
const missedHeartbeats = 4

/** Maximum duration of a claim, ms; a later expiry means that the clock was set back. */
export const maxClaimMs = 3_600_000

/** How long a claim lasts without a heartbeat, ms. */
const claimTtlMs = ({config}: WorkspaceContext, asked = config.heartbeatIntervalMs * missedHeartbeats): number =>
  Math.min(asked, maxClaimMs)

export interface ClaimRequest {
  /** Name of the claiming client, shown to others. */
  owner: string
  /** Name or id: only tasks of this agent. */
  agent?: string | number
  /** How long the claim lasts without a heartbeat, ms. */
  ttlMs?: number
}

/**
 * Claims the next external task for a client. The client must send heartbeats, and must complete or fail the task with
 * the returned generation. Expired claims are released first.
 * @throws no_task_to_claim, agent_not_found, stopped, hidden_checks_unread
 */
export function takeClaim(context: WorkspaceContext, {owner, agent, ttlMs}: ClaimRequest): Started {
  // In a transaction of its own: released claims stay released even if there is no task to claim.
  freeDeadClaims(context)
  return context.store.transaction(() => {
    requireNotStopped(context)
    requireHiddenChecksRead(context)
    const agentId = agent === undefined ? undefined : requireAgent(context, agent).id
    const expiresAtMs = context.now() + claimTtlMs(context, ttlMs)
    const started = startExternal(context, agentId, {owner, expiresAtMs})
    if (started === undefined) throw new SvcError('no_task_to_claim', {})
    return started
  })
}

/**
 * Extends a client's claim on a task.
 * @returns the new expiry of the claim, Unix ms
 * @throws task_not_found, claim_lost
 */
export function renewClaim(
  context: WorkspaceContext,
  id: number,
  {generation, ttlMs, activity = 'executing'}: {generation: number; ttlMs?: number; activity?: AgentActivity},
): number {
  const {store, now} = context
  return store.transaction(() => {
    const row = requireRow(context, id)
    const {claim_generation: current, agent_id} = row
    const isClaimed = row.status === 'InProgress' && row.claim_expires_ms !== null
    if (!isClaimed || current !== generation || hasEnded(context, row))
      throw new SvcError('claim_lost', {task: displayTask(id), generation, current, status: labelOf(row)})
    const expiresAtMs = now() + claimTtlMs(context, ttlMs)
    store.run('UPDATE orch_tasks SET claim_expires_ms = ? WHERE id = ?', [expiresAtMs, id])
    store.run('UPDATE orch_agents SET last_active_ms = ?, activity = ? WHERE id = ?', [now(), activity, agent_id])
    appendEvent(context, {type: 'agent_heartbeat', agent_id, activity})
    return expiresAtMs
  })
}

function hasEnded({now}: WorkspaceContext, {claim_expires_ms: expires}: Pick<TaskRow, 'claim_expires_ms'>): boolean {
  return expires !== null && (expires <= now() || expires > now() + maxClaimMs)
}

/** Requeues tasks with an expired claim and ends those that exceed `task_timeout_ms`. Returns the number of tasks. */
export const freeDeadClaims = (context: WorkspaceContext): number =>
  context.store.transaction(() => {
    const claimed = claimedTasks(context).map((row) => ({row, id: row.id, late: overtime(context, row)}))
    const dead = claimed.filter(({row, late}) => late !== undefined || hasEnded(context, row))
    for (const each of dead) free(context, each)
    return dead.length
  })

type ClaimedRow = Pick<TaskRow, 'id' | 'claim_expires_ms' | 'started_at_ms'> & {
  task_timeout_ms: number | null
  max_latency_ms: number | null
}

const claimedTasks = ({store, repositoryId}: WorkspaceContext): ClaimedRow[] =>
  store.all<ClaimedRow>(
    `SELECT id, claim_expires_ms, started_at_ms, request ->> 'task_timeout_ms' AS task_timeout_ms,
  request ->> '$.budget.max_latency_ms' AS max_latency_ms FROM orch_tasks
WHERE repository_id = ? AND status = 'InProgress' AND claim_expires_ms IS NOT NULL`,
    [repositoryId],
  )

/** Why a run has taken too long; undefined if it has not. */
function overtime(
  {now, config}: WorkspaceContext,
  {started_at_ms: started, task_timeout_ms, max_latency_ms}: ClaimedRow,
): Overtime | undefined {
  if (started === null) return undefined
  const {ms, reason} = runLimit(config, {
    task_timeout_ms: task_timeout_ms ?? undefined,
    max_latency_ms: max_latency_ms ?? undefined,
  })
  return now() - started > ms ? reason : undefined
}

/** Why a run is ended: `task_timeout_ms`, or the time budget of the task. */
export type Overtime = 'timeout' | 'budget_exceeded'

/** The time that a run may take, ms, and the reason if it takes longer. */
export function runLimit(
  {taskTimeoutMs, executionTimeBudgetMultiplier: factor}: WorkspaceContext['config'],
  {
    task_timeout_ms: timeout = taskTimeoutMs,
    max_latency_ms: latency,
  }: {
    task_timeout_ms?: number | undefined
    max_latency_ms?: number | undefined
  },
): {ms: number; reason: Overtime} {
  const budget = latency === undefined ? Number.POSITIVE_INFINITY : latency * factor
  return budget < timeout ? {ms: budget, reason: 'budget_exceeded'} : {ms: timeout, reason: 'timeout'}
}

function free(context: WorkspaceContext, {id, late}: {id: number; late: Overtime | undefined}): void {
  const row = requireRow(context, id)
  const {agent_id, claim_owner, claim_generation: generation} = row
  appendEvent(context, {type: 'task_claim_expired', task_id: id, agent_id, owner: claim_owner ?? '', generation})
  // After missed heartbeats the time worked is unknown, so the task is requeued. With heartbeats it has timed out.
  if (hasEnded(context, row)) requeueRow(context, row, 'claim_expired')
  else if (late === 'budget_exceeded') failRow(context, row, late)
  else failOrRetry(context, row, 'timeout')
}
