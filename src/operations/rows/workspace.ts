import type {MeshSnapshot, Reload, StatusReport, WorkspaceJourney} from '../../orchestrator/index.js'
import type {EventRecord} from '../../tasks/index.js'
import type {OperationContext} from '../context.js'
import {type Operation, operation} from '../operation.js'
import {renamed} from '../renamed.js'
import {flag, integer, list, number, object, oneOf, taskId, text} from '../schema.js'

interface Status extends StatusReport {
  /** Tasks are kept in a file. */
  db_configured: boolean
  /** Whether tasks are only queued, or run too. */
  execution_mode: 'queue_only' | 'workers_attached'
  worker_runtime_attached: boolean
  /** The nodes of the mesh, where a control plane is configured. */
  mesh_snapshot?: MeshSnapshot
}

/** Asks the mesh only where there is one: without it the answer is there at once. */
function statusOf(_: object, {modules, orchestrator, sources, signal}: OperationContext): Status | Promise<Status> {
  const report = modules.reportStatus(orchestrator)
  const isRun = report.daemon !== null
  const status: Status = {
    ...report,
    db_configured: orchestrator.isKept,
    execution_mode: isRun ? 'workers_attached' : 'queue_only',
    worker_runtime_attached: isRun,
  }
  return (
    modules.meshSnapshot(orchestrator, signal)?.then(async (mesh_snapshot) => {
      await recordSnapshot(mesh_snapshot, {orchestrator, sources})
      return {...status, mesh_snapshot}
    }) ?? status
  )
}

/** Writes down that the mesh was asked, where that is wanted. */
async function recordSnapshot(
  snapshot: MeshSnapshot,
  {orchestrator, sources}: Pick<OperationContext, 'orchestrator' | 'sources'>,
): Promise<void> {
  const {recordControlEvent} = await import('../../mesh/index.js')
  const details = snapshot.ok
    ? {ok: true, node_count: snapshot.node_count, schema_version: snapshot.schema_version, error: null}
    : {ok: false, node_count: null, schema_version: null, error: snapshot.error}
  recordControlEvent(orchestrator, sources, {name: 'orchestrator_status_mesh_snapshot', details})
}

/** A status as a model reads it: with the short names of its counts, and a sentence. */
const presentStatus = (status: Status) => ({
  ...status,
  in_progress: status.total_in_progress,
  completed: status.total_completed,
  markdown_summary: summarise(status),
})

function summarise({agent_count, total_queued, total_in_progress, total_completed, ...status}: Status): string {
  const loop = status.worker_runtime_attached ? 'A daemon runs them.' : 'No daemon runs them.'
  const counts = `${total_queued} queued, ${total_in_progress} in progress, ${total_completed} completed`
  const mesh = status.mesh_snapshot
  const nodes = mesh === undefined ? '' : mesh.ok ? ` Mesh: ${mesh.node_count} nodes.` : ` Mesh: ${mesh.error}`
  return `**Tasks:** ${counts}; **agents:** ${agent_count}. ${loop}${nodes}`
}

/** How the workspace as a whole stands, and what happened in it. */
export const workspaceOperations: readonly Operation[] = [
  operation<object, Status>({
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
        execution_mode: oneOf(['queue_only', 'workers_attached']),
        worker_runtime_attached: flag(),
        registered_worker_processes: integer('Processes that run tasks of themselves.'),
        db_configured: flag(),
        active_store: oneOf(['project', 'canonical', 'none'], 'Whose store it is; none where nothing is kept.'),
        event_feed_mode: oneOf(['database_and_transient', 'transient_only']),
        scaling_profile: text(),
        effective_scale_up_threshold: number('Load of each agent from which another one is started.'),
        oplog_count: integer('Operations that can be undone or redone.'),
        planning: object(
          {active_sessions: integer(), total_sessions: integer()},
          {required: ['active_sessions', 'total_sessions']},
        ),
        mesh_snapshot: object({ok: flag()}, {required: ['ok'], open: true}),
      },
      {
        required: ['enabled', 'total_queued', 'total_in_progress', 'agents'],
        open: true,
      },
    ),
    bindings: {
      rpc: {method: 'orch.status'},
      tool: {name: 'svc_orchestrator_status', tier: 'core', lane: 'workflow', present: presentStatus},
      cli: {command: 'orch status', own: true},
    },
    run: statusOf,
  }),
  operation<object, WorkspaceJourney>({
    name: 'workspace_journey',
    title: 'Where the workspace is kept',
    summary: 'Tell which store has the tasks, and whether this process works for the repository that it stands in.',
    effect: 'read',
    idempotent: true,
    input: object({}),
    output: object(
      {
        workspace_journey_store_mode: oneOf(['project', 'canonical']),
        project_store_path: text(),
        repository_id: text(),
        fallback_canonical: flag(),
        daemon_repository_id: text('The repository that this process was started for.'),
        discovered_repository_id: text('The one that would be found now.'),
        match: flag(),
        active_store: oneOf(['project', 'canonical', 'none']),
      },
      {
        required: [
          'workspace_journey_store_mode',
          'project_store_path',
          'repository_id',
          'fallback_canonical',
          'daemon_repository_id',
          'discovered_repository_id',
          'match',
          'active_store',
        ],
      },
    ),
    bindings: {
      rpc: {method: 'orch.workspace_journey'},
      tool: {name: 'svc_workspace_journey', tier: 'dev', lane: 'workflow'},
    },
    run: (_, {modules, orchestrator, sources}) => modules.workspaceJourney(orchestrator, {sources}),
  }),
  operation<object, {ok: true} & Reload>({
    name: 'reload_config',
    title: 'Read the settings anew',
    summary: 'Put the settings of Svc.toml as it is now in the place of those that are in use, or none of them.',
    effect: 'write',
    idempotent: true,
    input: object({}),
    output: object(
      {
        ok: flag(),
        changed: list(text(), 'Names of the settings that are others now.'),
        after_restart: list(text(), 'Those that count only once the process is started again.'),
        warnings: list(text()),
      },
      {required: ['ok', 'changed', 'after_restart', 'warnings']},
    ),
    bindings: {
      rpc: {method: 'orch.reload_config'},
      tool: {name: 'svc_reload_config', tier: 'dev', lane: 'workflow'},
    },
    async run(_, {modules, orchestrator, sources, onReload, notice}) {
      const reload = await modules.reloadConfig(orchestrator, sources, onReload)
      modules.announceReload(orchestrator, reload, notice)
      return {ok: true, ...reload}
    },
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
    bindings: {
      rpc: {method: 'orch.events.list'},
      tool: {name: 'svc_poll_events', tier: 'dev', lane: 'workflow'},
      cli: {command: 'orch events', own: true},
    },
    run: (input, {modules, orchestrator}) => ({
      events: modules.tasks.readEvents(orchestrator, {
        limit: 50,
        ...renamed(input, {limit: 'limit', since: 'since_id', types: 'types', taskId: 'task_id'}),
      }),
    }),
  }),
]
