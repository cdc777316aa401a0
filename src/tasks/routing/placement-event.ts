import {queuedOf} from '../agents/agent-rows.js'
import type {TaskContext} from '../base/context.js'
import type {TaskStatus} from '../base/vocabulary.js'
import {appendEvent} from '../events/event-log.js'
import type {Placement} from './place.js'

/** Emits the single event of a routing decision, to the store and in the same form to the log. */
export function emitPlacement(
  context: TaskContext,
  {id, status, trace_id}: {id: number; status: TaskStatus; trace_id: string},
  {agent, reason, terms}: Placement,
): void {
  const event = {
    type: 'task_placed',
    task_id: id,
    agent_id: agent.id,
    placement_reason: reason,
    lease_id: null,
    queue_len: queuedOf(agent) + (status === 'Queued' ? 1 : 0),
    trace_id,
    ...(context.config.unifiedRouting ? {reason: terms} : {}),
  } as const
  appendEvent(context, event)
  const {type, ...facts} = event
  context.placementLog.info({event: type, ...facts})
}
