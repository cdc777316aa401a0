import type {RunEntry, RunReport, RunSummary, ScheduleList} from '../../workflow/index.js'
import {type Operation, operation} from '../operation.js'
import {flag, integer, list, maxDurationMs, object, oneOf, text} from '../schema.js'

const stateNames: Readonly<Record<RunSummary['status'], true>> = {
  queued: true,
  running: true,
  interrupted: true,
  waiting: true,
  completed: true,
  failed: true,
  cancelled: true,
}
/** What a run can be. The type of the module of workflows requires each state, and this module must not load that one. */
export const runStates = Object.keys(stateNames) as readonly RunSummary['status'][]

const entryKinds: readonly RunEntry['kind'][] = [
  'step_started',
  'step_completed',
  'attempt_started',
  'attempt_failed',
  'signal_received',
  'signal_consumed',
]

const run = object(
  {
    run_id: text(),
    workflow: text(),
    status: oneOf(runStates),
    completed_steps: integer(),
    planned_steps: integer(),
    started_at_ms: integer(),
    error: text(),
  },
  {required: ['run_id', 'workflow', 'status', 'completed_steps', 'planned_steps', 'started_at_ms'], open: true},
)

const runId = text('Run id.', {minLength: 1, maxLength: 200})

export const workflowOperations: readonly Operation[] = [
  operation<{status?: string; workflow?: string; limit?: number; before_run_id?: string}, {runs: RunSummary[]}>({
    name: 'list_workflow_runs',
    title: 'List workflow runs',
    summary: 'List the workflow runs of this workspace, newest first.',
    effect: 'read',
    idempotent: true,
    input: object({
      status: oneOf(runStates, 'Only runs with this status.'),
      workflow: text('Only runs of this workflow.', {maxLength: 64}),
      limit: integer('Maximum number of runs.', {minimum: 1, maximum: 1000, default: 50}),
      before_run_id: text('Only runs after this one in the list, to get the next page.', {
        minLength: 1,
        maxLength: 200,
      }),
    }),
    output: object({runs: list(run)}, {required: ['runs']}),
    bindings: {
      rpc: {method: 'orch.workflow.list'},
      tool: {name: 'svc_workflow_list', tier: 'dev', lane: 'workflow'},
      cli: {command: 'workflow list', own: true},
    },
    run: ({before_run_id: before, ...filter}, {modules, orchestrator}) => ({
      runs: modules.workflows.listRuns(orchestrator, {...filter, before}),
    }),
  }),
  operation<{run_id: string}, RunReport>({
    name: 'workflow_status',
    title: 'Show a workflow run',
    summary: 'Show a workflow run and what it waits for.',
    effect: 'read',
    idempotent: true,
    input: object({run_id: runId}, {required: ['run_id']}),
    output: run,
    bindings: {
      rpc: {method: 'orch.workflow.status'},
      tool: {name: 'svc_workflow_status', tier: 'dev', lane: 'workflow'},
      cli: {command: 'workflow status', renames: {run: 'run_id'}, args: ['run']},
    },
    run: ({run_id}, {modules, orchestrator}) => modules.workflows.runReport(orchestrator, run_id),
  }),
  operation<{run_id: string; after?: number; limit?: number}, {entries: RunEntry[]}>({
    name: 'workflow_journal',
    title: 'Show the journal of a workflow run',
    summary: 'List when the steps of a workflow run and their attempts started and ended, and its signals, in order.',
    effect: 'read',
    idempotent: true,
    input: object(
      {
        run_id: runId,
        after: integer('Number of entries to skip, to get the next page.', {minimum: 0, default: 0}),
        limit: integer('Maximum number of entries.', {minimum: 1, maximum: 1000, default: 200}),
      },
      {required: ['run_id']},
    ),
    output: object(
      {
        entries: list(
          object(
            {
              at_ms: integer('Unix milliseconds.'),
              kind: oneOf(entryKinds),
              subject: text('Id of the step; for a signal, its key.'),
              attempt: integer('Number of the attempt, from 1.'),
              worker: text('What drove the attempt.'),
              error: text(),
              payload: {description: 'Payload of the signal.'},
            },
            {required: ['at_ms', 'kind', 'subject']},
          ),
        ),
      },
      {required: ['entries']},
    ),
    bindings: {rpc: {method: 'orch.workflow.journal'}},
    run: ({run_id, ...page}, {modules, orchestrator}) => ({
      entries: modules.workflows.runEntries(orchestrator, run_id, page),
    }),
  }),
  operation<object, ScheduleList>({
    name: 'list_schedules',
    title: 'List schedules',
    summary: 'List when the daemon starts workflows, the next start first.',
    effect: 'read',
    idempotent: true,
    input: object({}),
    output: object(
      {
        schedules: list(
          object(
            {
              workflow: text(),
              file: text('Absolute path.'),
              cron: text(),
              time_zone: text(),
              missed: oneOf(['skip', 'once']),
              next_at_ms: integer('In the past if the start is late.'),
              last_run: object(
                {run_id: text(), status: oneOf(runStates), started_at_ms: integer()},
                {required: ['run_id', 'status', 'started_at_ms']},
              ),
            },
            {required: ['workflow', 'file', 'cron', 'time_zone', 'missed']},
          ),
        ),
        faults: list(
          object({file: text(), error: text()}, {required: ['file', 'error']}),
          'Files that cannot be read now. The daemon uses their last valid content.',
        ),
      },
      {required: ['schedules', 'faults']},
    ),
    bindings: {
      rpc: {method: 'orch.workflow.schedules'},
      tool: {name: 'svc_workflow_schedules', tier: 'dev', lane: 'workflow'},
      cli: {command: 'workflow schedules', own: true},
    },
    run: async (_input, {modules, orchestrator}) =>
      (await modules.workflows.loadWorkflows()).listSchedules(orchestrator),
  }),
  operation<{run_id: string; key: string; payload?: unknown}, {signal_id: number}>({
    name: 'workflow_signal',
    title: 'Send a signal to a workflow run',
    summary: 'Send a signal to a workflow run, or decide on an approval.',
    effect: 'write',
    idempotent: false,
    input: object(
      {
        run_id: runId,
        key: text('Key of the signal, or id of the approval.', {minLength: 1, maxLength: 200}),
        payload: {
          description: 'Any JSON value. An approval needs true, false or {"approved": false, "reason": "..."}.',
        },
      },
      {required: ['run_id', 'key']},
    ),
    output: object({signal_id: integer()}, {required: ['signal_id']}),
    bindings: {
      // No tool: a model must not approve for a person.
      rpc: {method: 'orch.workflow.signal'},
      cli: {command: 'workflow signal', own: true},
    },
    run: ({run_id, key, payload}, {modules, orchestrator}) =>
      modules.workflows.sendSignal(orchestrator, {run: run_id, key, payload}),
  }),
  operation<{run_id: string; adopt?: boolean}, RunReport>({
    name: 'resume_workflow_run',
    title: 'Resume a workflow run',
    summary: 'Let the daemon continue an interrupted, waiting or failed workflow run.',
    effect: 'write',
    idempotent: true,
    input: object({run_id: runId, adopt: flag('Continue with the changed definition.')}, {required: ['run_id']}),
    output: run,
    bindings: {
      rpc: {method: 'orch.workflow.resume'},
      cli: {command: 'workflow resume', own: true},
    },
    async run({run_id, adopt}, {modules, orchestrator}) {
      const {handOverRun} = await modules.workflows.loadWorkflows()
      await handOverRun(orchestrator, run_id, adopt)
      return modules.workflows.runReport(orchestrator, run_id)
    },
  }),
  operation<{run_id: string}, RunReport>({
    name: 'cancel_workflow_run',
    title: 'Cancel a workflow run',
    summary: 'Let the process that drives a workflow run, or the daemon, cancel it and undo its completed steps.',
    effect: 'destructive',
    idempotent: false,
    input: object({run_id: runId}, {required: ['run_id']}),
    output: run,
    bindings: {
      rpc: {method: 'orch.workflow.cancel'},
      cli: {command: 'workflow cancel', own: true},
    },
    async run({run_id}, {modules, orchestrator}) {
      const {askToCancel} = await modules.workflows.loadWorkflows()
      askToCancel(orchestrator, run_id)
      return modules.workflows.runReport(orchestrator, run_id)
    },
  }),
  operation<{older_than_ms?: number; failed?: boolean; dry_run?: boolean}, {dry_run: boolean; removed: number}>({
    name: 'prune_workflow_runs',
    title: 'Prune workflow runs',
    summary: 'Delete old workflow runs that have ended.',
    effect: 'destructive',
    idempotent: true,
    input: object({
      older_than_ms: integer(
        'Minimum time since the runs ended, in milliseconds; default: the retention of the settings.',
        {
          minimum: 0,
          maximum: maxDurationMs,
        },
      ),
      failed: flag('Also delete failed runs, which could be resumed.'),
      dry_run: flag('Count the runs without deleting them.'),
    }),
    output: object({dry_run: {type: 'boolean'}, removed: integer()}, {required: ['dry_run', 'removed']}),
    bindings: {
      rpc: {method: 'orch.workflow.prune'},
      cli: {command: 'workflow prune', own: true},
    },
    run: ({older_than_ms: olderThanMs, failed, dry_run: dryRun = false}, {modules, orchestrator}) => ({
      dry_run: dryRun,
      removed: modules.workflows.pruneRuns(orchestrator, {olderThanMs, failed, dryRun}),
    }),
  }),
]
