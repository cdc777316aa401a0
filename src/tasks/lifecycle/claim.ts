import {SvcError} from '../../errors/index.js'
import {requireAgent} from '../agents/agent-rows.js'
import type {TaskContext} from '../base/context.js'
import {displayTask} from '../base/ids.js'
import type {AgentActivity} from '../base/vocabulary.js'
import {appendEvent} from '../events/event-log.js'
import {type Started, startExternal} from './dispatch.js'
import {failOrRetry, requeueRow} from './finish.js'
import {labelOf, requireRow, type TaskRow} from './task-rows.js'

/** Heartbeats that a client may miss before its claim ends. */
const missedHeartbeats = 4

/** Longest that a claim can be asked for, ms; one that ends later than this comes from a clock that was set back. */
export const longestClaimMs = 3_600_000

/** How long a claim counts without a heartbeat, ms. */
const claimTtlMs = ({config}: TaskContext, asked = config.heartbeatIntervalMs * missedHeartbeats): number =>
  Math.min(asked, longestClaimMs)

export interface ClaimRequest {
  /** Who claims, as others will see it. */
  owner: string
  /** Name or id: only tasks of this agent. */
  agent?: string | number
  /** How long the claim counts without a heartbeat, ms. */
  ttlMs?: number
}

/**
 * Gives the next external task to a client, which must tell it is alive, and complete or fail the task under the
 * generation that it got. Claims that have ended are freed first.
 * @throws no_task_to_claim, agent_not_found
 */
export function claimTask(context: TaskContext, {owner, agent, ttlMs}: ClaimRequest): Started {
  // What was freed stays free, also where nothing is left to be claimed.
  freeDeadClaims(context)
  return context.store.transaction(() => {
    const agentId = agent === undefined ? undefined : requireAgent(context, agent).id
    const expiresAtMs = context.now() + claimTtlMs(context, ttlMs)
    const started = startExternal(context, agentId, {owner, expiresAtMs})
    if (started === undefined) throw new SvcError('no_task_to_claim', {})
    return started
  })
}

/**
 * A client tells that it still works on its task.
 * @returns Unix ms at which the claim ends now
 * @throws task_not_found, claim_lost
 */
export function renewClaim(
  context: TaskContext,
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

function hasEnded({now}: TaskContext, {claim_expires_ms: expires}: Pick<TaskRow, 'claim_expires_ms'>): boolean {
  return expires !== null && (expires <= now() || expires > now() + longestClaimMs)
}

/** Frees the tasks of clients that are silent, and ends those that take longer than `task_timeout_ms`. Gives how many. */
export const freeDeadClaims = (context: TaskContext): number =>
  context.store.transaction(() => {
    const dead = claimedTasks(context).filter((row) => hasTimedOut(context, row) || hasEnded(context, row))
    for (const {id} of dead) free(context, requireRow(context, id))
    return dead.length
  })

type ClaimedRow = Pick<TaskRow, 'id' | 'claim_expires_ms' | 'started_at_ms'> & {task_timeout_ms: number | null}

const claimedTasks = ({store, repositoryId}: TaskContext): ClaimedRow[] =>
  store.all<ClaimedRow>(
    `SELECT id, claim_expires_ms, started_at_ms, request ->> 'task_timeout_ms' AS task_timeout_ms FROM orch_tasks
WHERE repository_id = ? AND status = 'InProgress' AND claim_expires_ms IS NOT NULL`,
    [repositoryId],
  )

function hasTimedOut({now, config}: TaskContext, {started_at_ms: started, task_timeout_ms: own}: ClaimedRow): boolean {
  return started !== null && now() - started > (own ?? config.taskTimeoutMs)
}

function free(context: TaskContext, row: TaskRow): void {
  const {id, agent_id, claim_owner, claim_generation: generation} = row
  appendEvent(context, {type: 'task_claim_expired', task_id: id, agent_id, owner: claim_owner ?? '', generation})
  // Of a client that is silent nobody knows how long it worked; one that is heard of takes too long.
  if (hasEnded(context, row)) requeueRow(context, row, 'claim_expired')
  else failOrRetry(context, row, 'timeout')
}
