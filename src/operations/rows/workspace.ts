import {counted, nearest, SvcError} from '../../errors/index.js'
import type {MeshSnapshot, Reload, StatusReport, WorkspaceJourney} from '../../orchestrator/index.js'
import type {EventRecord} from '../../tasks/index.js'
import type {OperationContext} from '../context.js'
import {type Operation, operation} from '../operation.js'
import {renamed} from '../renamed.js'
import {flag, integer, list, number, object, oneOf, taskId, text} from '../schema.js'

interface Status extends StatusReport {
  /** True if the store is a file, not in memory. */
  db_configured: boolean
  /** Whether tasks are only queued, or also run. */
  execution_mode: 'queue_only' | 'workers_attached'
  worker_runtime_attached: boolean
  /** The mesh nodes, if a control plane is configured. */
  mesh_snapshot?: MeshSnapshot
}

/** Without a query of the mesh, the result is synchronous. */
function statusOf(
  {mesh = true}: {mesh?: boolean},
  {modules, orchestrator, sources, signal}: OperationContext,
): Status | Promise<Status> {
  const report = modules.reportStatus(orchestrator)
  const isRun = report.daemon !== null
  const status: Status = {
    ...report,
    db_configured: orchestrator.isKept,
    execution_mode: isRun ? 'workers_attached' : 'queue_only',
    worker_runtime_attached: isRun,
  }
  if (!mesh) return status
  return (
    modules.meshSnapshot(orchestrator, signal)?.then(async (mesh_snapshot) => {
      await recordSnapshot(mesh_snapshot, {orchestrator, sources})
      return {...status, mesh_snapshot}
    }) ?? status
  )
}

/** Records the mesh query in the store if telemetry is enabled. */
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

/** The status for a model: with shorter names of the counts and a Markdown summary. */
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
  const nodes =
    mesh === undefined ? '' : mesh.ok ? ` Mesh: ${counted(mesh.node_count, 'node')}.` : ` Mesh: ${mesh.error}`
  return `**Tasks:** ${counts}; **agents:** ${agent_count}. ${loop}${nodes}`
}

/** Status, settings and events of the workspace. */
export const workspaceOperations: readonly Operation[] = [
  operation<{mesh?: boolean}, Status>({
    name: 'status',
    title: 'Show orchestrator status',
    summary: 'Show task counts, agents and the daemon that runs tasks.',
    effect: 'read',
    idempotent: true,
    input: object({
      mesh: {...flag('Ask the control plane for its nodes, if one is configured.'), default: true},
    }),
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
        registered_worker_processes: integer('Number of processes that run tasks.'),
        db_configured: flag(),
        active_store: oneOf(['project', 'canonical', 'file', 'none'], 'Store in use; none if it is in memory only.'),
        event_feed_mode: oneOf(['database_and_transient', 'transient_only']),
        scaling_profile: text(),
        effective_scale_up_threshold: number('Load per agent at which another agent is started.'),
        context_entries: object({}, {open: true}),
        oplog_count: integer('Number of operations that can be undone or redone.'),
        planning: object(
          {active_sessions: integer(), total_sessions: integer()},
          {required: ['active_sessions', 'total_sessions']},
        ),
        mesh_snapshot: object({ok: flag()}, {required: ['ok'], open: true}),
        mesh_federation_cache: object(
          {ok: flag(), node_count: integer()},
          {required: ['ok', 'node_count'], open: true},
        ),
      },
      {
        required: ['enabled', 'total_queued', 'total_in_progress', 'agents'],
        open: true,
      },
    ),
    bindings: {
      rpc: {method: 'orch.status'},
      tool: {
        name: 'svc_orchestrator_status',
        tier: 'core',
        lane: 'workflow',
        unlisted: ['mesh'],
        present: presentStatus,
      },
      cli: {command: 'orch status', own: true},
    },
    run: statusOf,
  }),
  operation<object, WorkspaceJourney>({
    name: 'workspace_journey',
    title: 'Show workspace store',
    summary: 'Show which store contains the tasks, and whether this process serves the current repository.',
    effect: 'read',
    idempotent: true,
    input: object({}),
    output: object(
      {
        workspace_journey_store_mode: oneOf(['project', 'canonical', 'file']),
        project_store_path: text(),
        repository_id: text(),
        fallback_canonical: flag(),
        daemon_repository_id: text('Repository that this process was started for.'),
        discovered_repository_id: text('Repository found in the current directory.'),
        match: flag(),
        active_store: oneOf(['project', 'canonical', 'file', 'none']),
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
    title: 'Reload settings',
    summary: 'Reload the settings from Svc.toml; if one is invalid, none of them changes.',
    effect: 'write',
    idempotent: true,
    input: object({}),
    output: object(
      {
        ok: flag(),
        changed: list(text(), 'Names of the changed settings.'),
        after_restart: list(text(), 'Names of settings that take effect after a restart.'),
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
  operation<{key?: string}, {repository_id: string; settings: Record<string, unknown>}>({
    name: 'config_get',
    title: 'Show settings',
    summary: 'Show the values of all settings or of one, as their sources are now; secrets are hidden.',
    effect: 'read',
    idempotent: true,
    input: object({key: text('Name of a setting, such as orchestrator.max_agents.', {minLength: 1, maxLength: 256})}),
    output: object(
      {repository_id: text(), settings: object({}, {open: true})},
      {required: ['repository_id', 'settings']},
    ),
    bindings: {rpc: {method: 'config.get'}},
    async run({key}, {modules, orchestrator, sources}) {
      const {describeSettings} = await import('../../config/index.js')
      const current = await modules.rereadSources(orchestrator.root, sources)
      const {settings} = describeSettings(current.sources)
      const names = settings.map(({name}) => name)
      if (key !== undefined && !names.includes(key))
        throw new SvcError('setting_unknown', {key, suggestion: nearest(key, names)})
      const asked = settings.filter(({name}) => key === undefined || name === key)
      const values = Object.fromEntries(asked.map(({name, value}) => [name, value]))
      return {repository_id: orchestrator.repositoryId, settings: values}
    },
  }),
  operation<{since_id?: number; types?: string[]; task_id?: number; limit?: number}, {events: EventRecord[]}>({
    name: 'list_events',
    title: 'List events',
    summary: 'List events, oldest first.',
    effect: 'read',
    idempotent: true,
    input: object({
      since_id: integer('Only events after this id.', {minimum: 0}),
      types: list(text(), 'Only events of these types, such as task_completed.', {maxItems: 100}),
      task_id: taskId,
      limit: integer('Maximum number of events.', {minimum: 1, maximum: 1000, default: 50}),
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
