import {isErrorOf, type SvcError} from '../../errors/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {displayTask} from '../base/ids.js'
import {readState, writeState} from '../base/state.js'
import {appendEvent} from '../events/event-log.js'
import {retireAgent} from '../lifecycle/retire-agent.js'
import {submitTask} from '../submission/submit.js'

/** Staleness levels, and the number of thresholds without activity from which each applies. */
const levels = [
  {level: 'warn', misses: 1},
  {level: 'alert', misses: 3},
  {level: 'critical', misses: 5},
  {level: 'dead', misses: 10},
] as const

const deadLevel = levels.length

/** The index of a level from 1, or 0 below the first. A threshold of 0 ms turns levels off. */
export function stalenessOf(idleMs: number, thresholdMs: number): number {
  if (thresholdMs <= 0 || idleMs < 0) return 0
  const misses = Math.floor(idleMs / thresholdMs)
  return levels.filter((each) => misses >= each.misses).length
}

/** An agent with unfinished tasks, as read by a round. Times are Unix ms. */
export interface WatchedAgent {
  id: number
  name: string
  kind: 'reserved' | 'dynamic'
  running: number
  last_active_ms: number
  /** When the first task that could start was queued; null if there is none. */
  waiting_since_ms: number | null
  /** That task. */
  waiting_task: number | null
  processor: 'ai' | 'exec' | 'external' | null
  idle_level: number
  continuations: number
  continued_at_ms: number | null
}

/**
 * Time without activity, ms; 0 if the agent has nothing to do. An agent is not idle before its first task waits, nor
 * before the daemon runs.
 */
export function idleOf(agent: WatchedAgent, sinceMs: number, nowMs: number): number {
  const {running, last_active_ms: active, waiting_since_ms: waiting} = agent
  if (running === 0 && waiting === null) return 0
  const busySince = running > 0 ? active : Math.max(active, waiting ?? nowMs)
  return Math.max(0, nowMs - Math.max(busySince, sinceMs))
}

interface Continuation {
  staleThresholdMs: number
  autoContinueEnabled: boolean
  continuationCooldownMs: number
  maxAutoContinuations: number
}

/** The number of the continuation that is due for an agent; undefined if none is. Activity starts the count again. */
export function dueContinuation(
  agent: Pick<WatchedAgent, 'last_active_ms' | 'continuations' | 'continued_at_ms'>,
  idleMs: number,
  config: Continuation,
  nowMs: number,
): number | undefined {
  const {staleThresholdMs, autoContinueEnabled, continuationCooldownMs, maxAutoContinuations} = config
  if (!autoContinueEnabled || stalenessOf(idleMs, staleThresholdMs) === 0) return undefined
  const {continued_at_ms: last} = agent
  const hasProgressed = last === null || agent.last_active_ms > last
  const next = hasProgressed ? 1 : agent.continuations + 1
  const isCool = last === null || nowMs - last >= continuationCooldownMs || last > nowMs
  return isCool && next <= maxAutoContinuations ? next : undefined
}

/**
 * Reports agents without activity, retires dead dynamic ones, and continues waiting tasks.
 * @param sinceMs start of the watch: earlier inactivity does not count, Unix ms
 */
export function watchAgents(context: WorkspaceContext, sinceMs: number): void {
  const {config, now} = context
  if (config.staleThresholdMs > 0)
    for (const agent of watchedAgents(context)) {
      const idleMs = idleOf(agent, sinceMs, now())
      reportLevel(context, agent, idleMs)
      if (!retireDead(context, agent, idleMs)) continueAgent(context, agent, idleMs)
    }
  reportIdle(context, sinceMs)
}

/** Agents with tasks, and those with a level to clear. Reads one task per agent, in the order of its queue. */
function watchedAgents({store, repositoryId, now}: WorkspaceContext): WatchedAgent[] {
  const agents = store.all<Omit<WatchedAgent, 'waiting_since_ms' | 'waiting_task' | 'processor'>>(
    `SELECT id, name, kind, running, last_active_ms, idle_level, continuations, continued_at_ms FROM orch_agents
WHERE repository_id = ? AND state = 'active' AND kind <> 'resolution'
  AND (running > 0 OR queued_background + queued_normal + queued_urgent > 0 OR idle_level > 0)`,
    [repositoryId],
  )
  return agents.map((agent) => {
    const task = store.get<{id: number; at: number; processor: WatchedAgent['processor']}>(
      `SELECT id, updated_at_ms AS at, processor FROM orch_tasks WHERE status = 'Queued' AND agent_id = @agent
  AND (not_before_ms IS NULL OR not_before_ms <= @now) AND (start_after_ms IS NULL OR start_after_ms <= @now)
ORDER BY priority DESC, id LIMIT 1`,
      {agent: agent.id, now: now()},
    )
    return {
      ...agent,
      waiting_since_ms: task?.at ?? null,
      waiting_task: task?.id ?? null,
      processor: task?.processor ?? null,
    }
  })
}

/** Emits a level that is higher than the reported one; activity clears it silently. */
function reportLevel(context: WorkspaceContext, {id, idle_level: reported}: WatchedAgent, idleMs: number): void {
  const index = stalenessOf(idleMs, context.config.staleThresholdMs)
  if (index === reported) return
  context.store.run('UPDATE orch_agents SET idle_level = ? WHERE id = ?', [index, id])
  const level = levels[index - 1]?.level
  if (level !== undefined && index > reported)
    appendEvent(context, {type: 'agent_idle', agent_id: id, level, idle_ms: idleMs})
}

/**
 * Retires a dead dynamic agent, so that its tasks move to others. An agent with a task in progress is kept: the task
 * has a living holder, and `task_timeout_ms` ends it.
 */
function retireDead(context: WorkspaceContext, {id, kind, running}: WatchedAgent, idleMs: number): boolean {
  if (kind !== 'dynamic' || running > 0) return false
  if (stalenessOf(idleMs, context.config.staleThresholdMs) < deadLevel) return false
  return unlessRefused(['last_agent', 'max_agents_reached'], () => retireAgent(context, id))
}

function continueAgent(context: WorkspaceContext, agent: WatchedAgent, idleMs: number): void {
  const {store, config, now} = context
  const {id, name, waiting_task: task} = agent
  const continuation = dueContinuation(agent, idleMs, config, now())
  if (continuation === undefined || task === null) return
  unlessRefused(continuationRefusals, () =>
    store.transaction(() => {
      const {task_id} = submitTask(context, {
        description: `Continue with the waiting tasks of ${name}, starting with ${displayTask(task)}.`,
        target_agent: name,
        priority: 'background',
        processor: agent.processor === 'ai' ? 'ai' : 'external',
      })
      store.run('UPDATE orch_agents SET continuations = ?, continued_at_ms = ? WHERE id = ?', [continuation, now(), id])
      appendEvent(context, {type: 'continuation_triggered', task_id, agent_id: id, continuation, idle_ms: idleMs})
    }),
  )
}

/** Reasons why an agent gets no new task; the next round tries again. */
const continuationRefusals = [
  'orchestrator_disabled',
  'stopped',
  'queue_full',
  'doom_loop',
  'budget_exceeded',
  'agent_not_found',
] as const

function unlessRefused(codes: readonly SvcError['code'][], work: () => void): boolean {
  try {
    work()
    return true
  } catch (error) {
    if (codes.some((code) => isErrorOf(error, code))) return false
    throw error
  }
}

/** Emits one event when no agent has had any work for `idle_timeout_ms`, until there is work again. */
function reportIdle(context: WorkspaceContext, sinceMs: number): void {
  const {store, repositoryId, config, now} = context
  if (config.idleTimeoutMs <= 0) return
  const row = store.get<{busy: number | null; active: number | null}>(
    `SELECT sum(running + queued_background + queued_normal + queued_urgent) AS busy, max(last_active_ms) AS active
FROM orch_agents WHERE repository_id = ? AND kind <> 'resolution'`,
    [repositoryId],
  )
  const active = row?.active ?? 0
  const idleMs = now() - Math.max(active, sinceMs)
  if ((row?.busy ?? 0) > 0 || idleMs < config.idleTimeoutMs || readState(context, 'idle_since_ms') === active) return
  writeState(context, 'idle_since_ms', active)
  appendEvent(context, {type: 'orchestrator_idle', idle_ms: idleMs})
}
