import type {EventRecord} from '../../orchestrator/index.js'
import {type Operation, operation} from '../operation.js'
import {integer, list, object, taskId, text} from '../schema.js'

/** How the workspace as a whole stands, and what happened in it. */
export const workspaceOperations: readonly Operation[] = [
  operation<object, object>({
    name: 'status',
    title: 'Status of the orchestrator',
    summary: 'Tell how the orchestrator stands: its agents, their queues, and the daemon that runs tasks.',
    effect: 'read',
    idempotent: true,
    input: object({}),
    output: object(
      {
        enabled: {type: 'boolean'},
        agent_count: integer(),
        total_queued: integer(),
        total_in_progress: integer(),
        total_completed: integer(),
        agents: list(object({}, {open: true})),
      },
      {
        required: ['enabled', 'agent_count', 'total_queued', 'total_in_progress', 'total_completed', 'agents'],
        open: true,
      },
    ),
    faces: {
      rpc: {method: 'orch.status'},
      tool: {name: 'svc_orchestrator_status', tier: 'core', lane: 'workflow'},
      cli: {command: 'orch status'},
    },
    run: (_, {room, orchestrator}) => room.reportStatus(orchestrator),
  }),
  operation<{since_id?: number; types?: string[]; task_id?: number; limit?: number}, {events: EventRecord[]}>({
    name: 'list_events',
    title: 'List events',
    summary: 'List what has happened, the oldest first.',
    effect: 'read',
    idempotent: true,
    input: object({
      since_id: integer('Only events after this id.', {minimum: 0}),
      types: list(text(), 'Only events of these types, such as task_completed.', {maxItems: 100}),
      task_id: taskId,
      limit: integer('At most so many.', {minimum: 1, maximum: 1000, default: 50}),
    }),
    output: object({events: list(object({}, {open: true}))}, {required: ['events']}),
    faces: {
      rpc: {method: 'orch.events.list'},
      tool: {name: 'svc_poll_events', tier: 'dev', lane: 'workflow'},
    },
    run: ({since_id, types, task_id, limit = 50}, {room, orchestrator}) => ({
      events: room.readEvents(orchestrator, {
        limit,
        ...(since_id === undefined ? {} : {since: since_id}),
        ...(types === undefined ? {} : {types}),
        ...(task_id === undefined ? {} : {taskId: task_id}),
      }),
    }),
  }),
]
