import type {ManifestEntry} from '../../contracts/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {canDelegate} from '../base/may-delegate.js'
import type {Task} from '../base/task.js'
import {appendEvent} from '../events/event-log.js'
import {recordAffinity, takeLocks, writesOf} from '../locks.js'
import {emergencyStopOf} from './emergency-stop.js'
import {clearOutput} from './output.js'
import {moveTask} from './status.js'
import {requireTask, type TaskRow} from './task-rows.js'

/** Waiting tasks read per query: the first ones may be waiting for files. */
const lookAhead = 64
/** Maximum number of tasks examined per call; the next call continues after them. */
const maxLooks = 2048
/** How long a task waits for files locked by another task before it is examined again, ms. */
const filePauseMs = 1000
/** Maximum pause, ms; a longer one means that the clock was set back. */
const maxPauseMs = 120_000

type Candidate = Pick<TaskRow, 'id' | 'status' | 'agent_id' | 'file_manifest' | 'claim_generation'>

const select = `SELECT id, status, agent_id, file_manifest, claim_generation FROM orch_tasks
WHERE status = 'Queued' AND (not_before_ms IS NULL OR not_before_ms <= @now OR not_before_ms > @now + ${maxPauseMs})
  AND (start_after_ms IS NULL OR start_after_ms <= @now)`

/** A started task, and the generation required to end it. */
export interface Started {
  task: Task
  generation: number
}

export interface Starter {
  /** Name of the runner, as recorded in events. */
  owner: string
  /** Expiry of the claim unless it is renewed, Unix ms; absent for the daemon, whose lease covers all its tasks. */
  expiresAtMs?: number
  /** Ids of tasks whose last run is still stopping; they are skipped. */
  besides?: readonly number[]
}

/**
 * Starts the next task of an agent in this process: the first in its queue that is due and whose files are free. After
 * an emergency stop, none is started.
 */
export function startNext(context: WorkspaceContext, agentId: number, starter: Starter): Started | undefined {
  if (emergencyStopOf(context) !== undefined) return undefined
  const {store, config, now} = context
  // Tasks that may be delegated are left to the delegation while it is configured.
  const others = canDelegate(config) ? "AND delegation IS NOT 'open'" : ''
  const sql = `${select} AND agent_id = @agent AND processor <> 'external' ${others} ORDER BY priority DESC, id LIMIT @limit`
  return startFirst(context, starter, (limit) => store.all<Candidate>(sql, {agent: agentId, now: now(), limit}))
}

/** Starts the next task for a client, of one agent or of any agent that is not paused. */
export function startExternal(
  context: WorkspaceContext,
  agentId: number | undefined,
  starter: Starter,
): Started | undefined {
  const {store, repositoryId, now} = context
  const sql = `${select} AND repository_id = @repository AND processor = 'external' AND (@agent IS NULL OR agent_id = @agent)
  AND agent_id NOT IN (SELECT id FROM orch_agents WHERE state = 'paused') ORDER BY priority DESC, id LIMIT @limit`
  return startFirst(context, starter, (limit) =>
    store.all<Candidate>(sql, {repository: repositoryId, agent: agentId ?? null, now: now(), limit}),
  )
}

/** Usually the first task can be started. One that cannot is postponed, so that the next call examines others. */
function startFirst(
  context: WorkspaceContext,
  starter: Starter,
  look: (limit: number) => readonly Candidate[],
): Started | undefined {
  const {besides = []} = starter
  for (let seen = 0, limit = 1; seen < maxLooks; seen += limit, limit = lookAhead) {
    const candidates = look(limit)
    for (const candidate of candidates) {
      const started = besides.includes(candidate.id) ? undefined : start(context, candidate, starter)
      if (started !== undefined) return started
    }
    if (candidates.length < limit) return undefined
  }
  return undefined
}

function start(context: WorkspaceContext, row: Candidate, {owner, expiresAtMs}: Starter): Started | undefined {
  const {store, now} = context
  const {id, agent_id: agentId} = row
  const files = JSON.parse(row.file_manifest) as ManifestEntry[]
  if (takeLocks(context, {taskId: id, agentId, files, purpose: 'run'}) !== undefined) {
    store.run('UPDATE orch_tasks SET not_before_ms = ? WHERE id = ?', [now() + filePauseMs, id])
    return undefined
  }
  const generation = row.claim_generation + 1
  moveTask(context, row, 'InProgress', {
    claim_owner: owner,
    claim_generation: generation,
    claim_expires_ms: expiresAtMs ?? null,
  })
  clearOutput(context, id)
  recordAffinity(context, agentId, writesOf(files))
  store.run('UPDATE orch_agents SET last_active_ms = ? WHERE id = ?', [now(), agentId])
  appendEvent(context, {type: 'task_started', task_id: id, agent_id: agentId, owner, generation})
  return {task: requireTask(context, id), generation}
}
