import {withoutNulls} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {
  type ExecutionRole,
  priorities,
  type TaskLabel,
  type TaskStatus,
  type WorkspaceContext,
} from '../../workspace/index.js'
import {displayTask} from '../base/ids.js'
import type {ApprovalTier, Task} from '../base/task.js'
import type {EvidenceContext} from '../gates/evidence.js'

/** A row of `orch_tasks` with the name of its agent. */
export interface TaskRow {
  id: number
  uid: string
  repository_id: string
  status: TaskStatus
  status_reason: string | null
  blocked_on: number | null
  unmet_dependencies: number
  agent_id: number
  agent_name: string
  doubted_agent_id: number | null
  doubted_status: TaskStatus | null
  doubted_role: ExecutionRole | null
  doubted_reason: string | null
  priority: 0 | 1 | 2
  complexity: number
  category: Task['category']
  phase_label: string
  execution_role: ExecutionRole | null
  processor: Task['processor']
  description: string
  file_manifest: string
  request: string
  journey_id: string | null
  session_id: string | null
  thread_id: string | null
  trace_id: string
  correlation_id: string | null
  tenant_id: string | null
  campaign_id: string | null
  placement_reason: Task['placement_reason']
  remote_delegate: string | null
  /** `open`: another node may run it; `local`: a delegation has failed. */
  delegation: 'open' | 'local' | null
  claim_owner: string | null
  claim_generation: number
  claim_expires_ms: number | null
  /** Generation of the last claim that its holder ended, and the JSON of the reply. */
  ended_generation: number | null
  ended_reply: string | null
  run_process: string | null
  current_phase: Task['current_phase'] | null
  transcript: string
  result: string | null
  audit_report: string | null
  receipt: string | null
  approval_tier: ApprovalTier | null
  attention_weight: number | null
  retry_count: number
  fault_count: number
  debug_iterations: number
  toestub_iterations: number
  socrates_iterations: number
  handoff_count: number
  created_at_ms: number
  updated_at_ms: number
  not_before_ms: number | null
  start_after_ms: number | null
  started_at_ms: number | null
  finished_at_ms: number | null
}

/** The parts of the request that are never searched, stored in one JSON column. */
export type TaskRequest = Pick<
  Task,
  | 'depends_on'
  | 'exec'
  | 'capability_requirements'
  | 'model_preference'
  | 'model_override'
  | 'benchmark_tier'
  | 'budget'
  | 'lost_node'
  | 'tool_hints'
  | 'research_hints'
  | 'active_skill'
  | 'is_detached'
  | 'task_timeout_ms'
  | 'retries'
  | 'harness'
> & {
  requires_approval?: true
  /** The submitter chose the agent. */
  is_targeted?: true
  /** Evidence of the caller for the answer. */
  socrates_context?: EvidenceContext
  /** Answer of the retrieval that the task is based on. */
  retrieval?: Readonly<Record<string, unknown>>
}

export const selectTask = 'SELECT t.*, a.name AS agent_name FROM orch_tasks t JOIN orch_agents a ON a.id = t.agent_id'

/** @throws task_not_found */
export function requireRow({store, repositoryId}: WorkspaceContext, id: number): TaskRow {
  const row = store.get<TaskRow>(`${selectTask} WHERE t.id = ? AND t.repository_id = ?`, [id, repositoryId])
  if (row === undefined) throw new SvcError('task_not_found', {task: displayTask(id)})
  return row
}

/** Requires a task to be in one of these states. @throws invalid_transition */
export function requireStatus(row: TaskRow, statuses: readonly TaskStatus[], to: TaskStatus): void {
  if (statuses.includes(row.status)) return
  throw new SvcError('invalid_transition', {task: displayTask(row.id), from: labelOf(row), to})
}

/** The published status: a task in progress on another node is a `RemoteHold`. */
export const labelOf = ({status, remote_delegate}: Pick<TaskRow, 'status' | 'remote_delegate'>): TaskLabel =>
  status === 'InProgress' && remote_delegate !== null ? 'RemoteHold' : status

export function toTask(row: TaskRow): Task {
  const {
    claim_owner,
    claim_generation,
    claim_expires_ms,
    ended_generation,
    ended_reply,
    doubted_agent_id,
    doubted_status,
    doubted_role,
    doubted_reason,
    fault_count,
    delegation,
    unmet_dependencies,
    run_process,
    not_before_ms,
    start_after_ms,
    request,
    ...columns
  } = row
  const {requires_approval, is_targeted, socrates_context, retrieval, ...asked} = JSON.parse(request) as TaskRequest
  const task = {
    ...columns,
    ...asked,
    display_id: displayTask(row.id),
    status: labelOf(row),
    not_before_ms: laterOf(not_before_ms, start_after_ms),
    priority: priorities[row.priority],
    file_manifest: JSON.parse(row.file_manifest),
    transcript: JSON.parse(row.transcript),
    remote_delegate: row.remote_delegate === null ? null : JSON.parse(row.remote_delegate),
    result: row.result === null ? null : JSON.parse(row.result),
    generation: claim_generation,
    claim:
      claim_owner === null || claim_expires_ms === null
        ? null
        : {owner: claim_owner, generation: claim_generation, expires_at_ms: claim_expires_ms},
  }
  return withoutNulls(task) as unknown as Task
}

const laterOf = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b)

/** @throws task_not_found */
export const requireTask = (context: WorkspaceContext, id: number): Task => toTask(requireRow(context, id))

/** The task with an id that is unique across stores; undefined if it does not exist. */
export function taskWithUid({store, repositoryId}: WorkspaceContext, uid: string): Task | undefined {
  const row = store.get<TaskRow>(`${selectTask} WHERE t.uid = ? AND t.repository_id = ?`, [uid, repositoryId])
  return row === undefined ? undefined : toTask(row)
}

export interface TaskFilter {
  status?: readonly TaskLabel[]
  agentId?: number
  sessionId?: string
  /** Only tasks that finished by this time, or were submitted by it if not finished; Unix ms. */
  olderThanMs?: number
  /** Only tasks with a smaller id: the next page. */
  beforeId?: number
}

const matching = `t.repository_id = @repository AND (@agent IS NULL OR t.agent_id = @agent)
  AND (@session IS NULL OR t.session_id = @session) AND (@before IS NULL OR t.id < @before)
  AND (@older IS NULL OR coalesce(t.finished_at_ms, t.created_at_ms) <= @older)
  AND (@statuses IS NULL OR iif(t.status = 'InProgress' AND t.remote_delegate IS NOT NULL, 'RemoteHold', t.status)
    IN (SELECT value FROM json_each(@statuses)))`

const dependants = ' AND t.id IN (SELECT task_id FROM orch_dependencies WHERE depends_on = @needed)'

const matchingParams = (
  {repositoryId}: WorkspaceContext,
  {status = [], agentId, sessionId, olderThanMs, beforeId}: TaskFilter,
) => ({
  repository: repositoryId,
  agent: agentId ?? null,
  session: sessionId ?? null,
  before: beforeId ?? null,
  older: olderThanMs ?? null,
  statuses: status.length === 0 ? null : JSON.stringify(status),
})

/** Tasks, newest first. @param dependsOn only tasks that wait for this one */
export const listTasks = (
  context: WorkspaceContext,
  {limit = 50, dependsOn, ...filter}: TaskFilter & {limit?: number; dependsOn?: number} = {},
): Task[] =>
  context.store
    .all<TaskRow>(
      `${selectTask} WHERE ${filter.status?.length ? '' : '+'}${matching}${dependsOn === undefined ? '' : dependants} ORDER BY t.id DESC LIMIT @limit`,
      {
        ...matchingParams(context, filter),
        ...(dependsOn === undefined ? {} : {needed: dependsOn}),
        limit,
      },
    )
    .map(toTask)

/** The ids of all matching tasks, oldest first. */
export const listTaskIds = (context: WorkspaceContext, filter: TaskFilter): number[] =>
  context.store
    .all<{id: number}>(`SELECT t.id FROM orch_tasks t WHERE ${matching} ORDER BY t.id`, matchingParams(context, filter))
    .map(({id}) => id)
