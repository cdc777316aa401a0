import type {PlacementReason, TaskStatus, WorkspaceContext} from '../../workspace/index.js'
import {queuedOf} from '../agents/agent-rows.js'
import {appendEvent} from '../events/event-log.js'
import type {Placement} from './place.js'

interface Placed {
  id: number
  status: TaskStatus
  trace_id: string
}

/** Emits the single event of a routing decision, to the store and in the same form to the log. */
export const emitPlacement = (context: WorkspaceContext, task: Placed, {agent, reason, terms}: Placement): void =>
  emit(context, task, {agentId: agent.id, reason, leaseId: null, queued: queuedOf(agent), terms})

/** Emits the event of the decision whether another node runs a task. */
export function emitDecision(
  context: WorkspaceContext,
  task: Placed,
  {agentId, reason, leaseId}: {agentId: number; reason: PlacementReason; leaseId: string | null},
): void {
  const agent = context.store.get<Parameters<typeof queuedOf>[0]>('SELECT * FROM orch_agents WHERE id = ?', [agentId])
  // The row already counts the task if it is queued.
  const queued = (agent === undefined ? 0 : queuedOf(agent)) - (task.status === 'Queued' ? 1 : 0)
  emit(context, task, {agentId, reason, leaseId, queued: Math.max(0, queued), terms: {}})
}

function emit(
  context: WorkspaceContext,
  {id, status, trace_id}: Placed,
  decision: {
    agentId: number
    reason: PlacementReason
    leaseId: string | null
    queued: number
    terms: Placement['terms']
  },
): void {
  const event = {
    type: 'task_placed',
    task_id: id,
    agent_id: decision.agentId,
    placement_reason: decision.reason,
    lease_id: decision.leaseId,
    queue_len: decision.queued + (status === 'Queued' ? 1 : 0),
    trace_id,
    ...(context.config.unifiedRouting ? {reason: decision.terms} : {}),
  } as const
  appendEvent(context, event)
  const {type, ...facts} = event
  context.placementLog.info({event: type, ...facts})
}
