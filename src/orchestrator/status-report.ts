import {type OrchStatusV1, withoutUndefined} from '../contracts/index.js'
import {loadOutlook, scaleUpThreshold} from '../scheduler/index.js'
import {
  type Agent,
  attentionBudget,
  emergencyStopOf,
  federationCache,
  listAgents,
  reportContext,
  runningDaemon,
} from '../tasks/index.js'
import type {TaskStatus, WorkspaceContext} from '../workspace/index.js'
import type {Orchestrator} from './open.js'

/** The state of the orchestrator of a workspace. */
export interface StatusReport extends Omit<OrchStatusV1, 'agents'> {
  agents: Agent[]
}

/** Counts of tasks and agents, load, plans, the operation log and the daemon. */
export function reportStatus(context: Orchestrator): StatusReport {
  const {store, repositoryId, config} = context
  const counts = new Map(
    store
      .all<{status: TaskStatus; tasks: number}>(
        'SELECT status, count(*) AS tasks FROM orch_tasks WHERE repository_id = ? GROUP BY status',
        [repositoryId],
      )
      .map(({status, tasks}) => [status, tasks]),
  )
  const of = (status: TaskStatus) => counts.get(status) ?? 0
  const agents = listAgents(context)
  const working = agents.filter(({kind}) => kind !== 'resolution')
  const {total, predicted} = loadOutlook(context)
  const daemon = describeDaemon(context)
  return {
    enabled: config.enabled,
    stopped: emergencyStopOf(context) ?? null,
    repository_id: repositoryId,
    store: store.path,
    active_store: context.activeStore,
    agent_count: working.length,
    reserved_agents: working.filter(({kind}) => kind === 'reserved').length,
    dynamic_agents: working.filter(({kind}) => kind === 'dynamic').length,
    total_queued: of('Queued'),
    total_in_progress: of('InProgress'),
    total_completed: of('Completed'),
    total_blocked: of('Blocked') + of('BlockedOnApproval'),
    total_failed: of('Failed'),
    total_cancelled: of('Cancelled'),
    total_doubted: of('Doubted'),
    locked_files: count(context, 'SELECT count(DISTINCT path) AS n FROM orch_locks WHERE repository_id = ?'),
    total_contention: count(
      context,
      `SELECT count(DISTINCT t.id) AS n FROM orch_tasks t JOIN json_each(t.file_manifest) f
JOIN orch_locks l ON l.repository_id = t.repository_id AND l.path = f.value ->> 'path' AND l.task_id <> t.id
JOIN orch_tasks holder ON holder.id = l.task_id AND holder.status = 'InProgress'
WHERE t.repository_id = ? AND t.status = 'Queued' AND t.file_manifest <> '[]' AND (l.access = 'write' OR f.value ->> 'access' = 'write')`,
    ),
    total_weighted_load: total,
    predicted_load: predicted,
    max_handoff_count: count(
      context,
      'SELECT coalesce(max(handoff_count), 0) AS n FROM orch_tasks WHERE repository_id = ? AND handoff_count > 0',
    ),
    scaling_profile: config.scalingProfile,
    effective_scale_up_threshold: scaleUpThreshold(config),
    planning: {
      active_sessions: count(
        context,
        "SELECT count(*) AS n FROM plan_sessions WHERE repository_id = ? AND status = 'active'",
      ),
      total_sessions: count(context, 'SELECT count(*) AS n FROM plan_sessions WHERE repository_id = ?'),
    },
    oplog_count: count(context, 'SELECT count(*) AS n FROM agent_oplog WHERE repository_id = ?'),
    event_feed_mode: context.isKept ? 'database_and_transient' : 'transient_only',
    registered_worker_processes: daemon === null ? 0 : 1,
    daemon,
    attention_budget: attentionBudget(context),
    ...withoutUndefined({mesh_federation_cache: federationCache(context)}),
    context_entries: reportContext(context),
    agents,
  }
}

const count = ({store, repositoryId}: WorkspaceContext, sql: string): number =>
  store.get<{n: number}>(sql, [repositoryId])?.n ?? 0

function describeDaemon(context: WorkspaceContext): StatusReport['daemon'] {
  const lease = runningDaemon(context)
  if (lease === undefined) return null
  return {pid: lease.pid, host: lease.host, since_ms: lease.acquired_at_ms}
}
