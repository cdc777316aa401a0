import {contractSchema, type SubmitTaskV1} from '../../contracts/index.js'
import type {FinishedStatus, Task} from '../../tasks/index.js'
import {type Operation, operation} from '../operation.js'
import {flag, integer, list, object, oneOf, partOf, taskId, text} from '../schema.js'
import {task} from '../shapes.js'

const priority = text('Priority: background, normal or urgent.', {maxLength: 16})
const generation = integer('Generation of the claim; required while the task is claimed.', {minimum: 1})
const force = flag('Override the claim of the current holder.')

/** Task labels: its own states, and "held for another node". */
const {enum: labels} = (contractSchema('cli/orch-task.v1') as {$defs: {task_label: {enum: readonly string[]}}}).$defs
  .task_label
const status = oneOf(labels)

const done = object({ok: flag(), task}, {required: ['ok', 'task']})
const ok = (changed: Task) => ({ok: true as const, task: changed})

const accepted = object(
  {
    task_id: integer(),
    display_id: text(),
    agent_id: integer(),
    agent_name: text(),
    status: text(),
    duplicate: flag(),
    orchestration_contract: text(),
  },
  {required: ['task_id', 'display_id', 'agent_id', 'status'], open: true},
)

const submission = partOf(contractSchema('orchestration/submit-task.v1'))

/** Attestation of finished work: `completion_summary` is the result; other members are stored with it. */
interface Attestation {
  completion_summary?: string
  [detail: string]: unknown
}

const attested = {
  completion_summary: text('Result of the task.', {maxLength: 131_072}),
  checks_passed: list(text(), undefined, {maxItems: 1000}),
  evidence_citations: list(text(), undefined, {maxItems: 1000}),
  artifact_paths: list(text(), undefined, {maxItems: 1000}),
  declared_non_placeholder: flag('The work is complete and not a stub.'),
  force_risky: flag(),
  force_risky_reason: text(undefined, {maxLength: 4096}),
  observation_summary: text(undefined, {maxLength: 131_072}),
}
const attestation = object(attested)
/** For bindings that flatten the members of the attestation into the input, or omit them. */
const attestationPaths = Object.keys(attested).map((name) => [name, `attestation.${name}`] as const)

function toResult(attestation: Attestation = {}) {
  const {completion_summary: summary = '', ...details} = attestation
  return Object.keys(attestation).length === 0 ? undefined : {...details, text: summary}
}

/** Submitting, inspecting and finishing tasks. */
export const taskOperations: readonly Operation[] = [
  operation<SubmitTaskV1, object>({
    name: 'submit_task',
    title: 'Submit a task',
    summary: 'Queue a task for the agents of this workspace.',
    effect: 'write',
    idempotent: false,
    input: submission,
    output: accepted,
    bindings: {
      rpc: {method: 'orch.submit_task'},
      tool: {
        name: 'svc_submit_task',
        tier: 'core',
        lane: 'workflow',
        renames: {
          files: 'file_manifest',
          agent_name: 'target_agent',
          capabilities: 'capability_requirements',
          task_category: 'enqueue_hints.task_category',
          complexity: 'enqueue_hints.complexity',
          execution_role: 'enqueue_hints.execution_role',
          model_preference: 'enqueue_hints.model_preference',
          model_override: 'enqueue_hints.model_override',
          campaign_id: 'enqueue_hints.campaign_id',
          benchmark_tier: 'enqueue_hints.benchmark_tier',
          budget: 'enqueue_hints.budget',
          tool_hints: 'enqueue_hints.tool_hints',
          research_hints: 'enqueue_hints.research_hints',
          required_labels: 'enqueue_hints.required_labels',
          is_detached: 'enqueue_hints.is_detached',
          active_skill: 'enqueue_hints.active_skill',
        },
        unlisted: [
          ...['trace_id', 'correlation_id', 'tenant_id'],
          ...['campaign_id', 'benchmark_tier', 'research_hints', 'is_detached'].map((name) => `enqueue_hints.${name}`),
        ],
        // The task has members of the same meaning as these hints.
        hidden: [
          ...['temp_deps', 'files', 'task_timeout_ms', 'retries', 'not_before_ms'],
          ...['thread_id', 'trace_id', 'tenant_id', 'requires_approval'].map((name) => `enqueue_hints.${name}`),
        ],
      },
      cli: {command: 'orch submit', own: true},
    },
    run: (input, {modules, orchestrator}) => modules.tasks.submitTask(orchestrator, input),
  }),
  operation<{tasks: SubmitTaskV1[]}, object>({
    name: 'submit_batch',
    title: 'Submit a batch of tasks',
    summary: 'Queue a batch of tasks, all or none; tasks can depend on each other.',
    effect: 'write',
    idempotent: false,
    input: object({tasks: list(submission, undefined, {maxItems: 200_000})}, {required: ['tasks']}),
    output: object({tasks: list(accepted)}, {required: ['tasks']}),
    bindings: {
      rpc: {method: 'orch.submit_batch'},
      tool: {name: 'svc_submit_batch', tier: 'advanced', lane: 'workflow'},
    },
    run: ({tasks}, {modules, orchestrator}) => ({tasks: modules.tasks.submitBatch(orchestrator, tasks)}),
  }),
  operation<{task_id: number}, object>({
    name: 'task_status',
    title: 'Show task status',
    summary: 'Show the status of a task.',
    effect: 'read',
    idempotent: true,
    input: object({task_id: taskId}, {required: ['task_id']}),
    output: object(
      {task_id: integer(), status, agent_id: integer(), agent_name: text(), reason: text(), updated_at_ms: integer()},
      {required: ['task_id', 'status', 'agent_name']},
    ),
    bindings: {
      rpc: {method: 'orch.task_status'},
      tool: {name: 'svc_task_status', tier: 'core', lane: 'workflow'},
    },
    run({task_id}, {modules, orchestrator}) {
      const {
        status: label,
        status_reason,
        agent_id,
        agent_name,
        updated_at_ms,
      } = modules.tasks.requireTask(orchestrator, task_id)
      const reason = status_reason === undefined ? {} : {reason: status_reason}
      return {task_id, status: label, agent_id, agent_name, ...reason, updated_at_ms}
    },
  }),
  operation<{task_id: number; output?: boolean}, {task: Task}>({
    name: 'get_task',
    title: 'Show a task',
    summary: 'Show a task with its request, status and result.',
    effect: 'read',
    idempotent: true,
    input: object(
      {task_id: taskId, output: flag('Include the output of the latest run of its command.')},
      {required: ['task_id']},
    ),
    output: object({task}, {required: ['task']}),
    bindings: {
      rpc: {method: 'orch.get_task'},
      tool: {name: 'svc_get_task', tier: 'dev', lane: 'workflow'},
      cli: {command: 'orch task', own: true},
    },
    run: ({task_id, output = false}, {modules, orchestrator}) => ({
      task: output
        ? modules.tasks.taskWithOutput(orchestrator, task_id)
        : modules.tasks.requireTask(orchestrator, task_id),
    }),
  }),
  operation<
    {status?: Task['status'][]; agent_id?: string | number; session_id?: string; limit?: number; before_id?: number},
    object
  >({
    name: 'list_tasks',
    title: 'List tasks',
    summary: 'List tasks, newest first.',
    effect: 'read',
    idempotent: true,
    input: object({
      status: list(status, 'Only tasks with these statuses.', {maxItems: labels.length}),
      agent_id: {type: ['integer', 'string'], description: 'Only tasks of this agent: its name or id.'},
      session_id: text('Only tasks of this session.', {maxLength: 2048}),
      limit: integer('Maximum number of tasks.', {minimum: 1, maximum: 1000, default: 50}),
      before_id: integer('Only tasks with a smaller id, to get the next page.', {minimum: 1}),
    }),
    output: object({tasks: list(task)}, {required: ['tasks']}),
    bindings: {
      rpc: {method: 'orch.list_tasks'},
      tool: {name: 'svc_task_list', tier: 'core', lane: 'workflow'},
      cli: {command: 'orch tasks', own: true},
    },
    run({status: statuses, agent_id, session_id, limit, before_id}, {modules, orchestrator}) {
      const filter = {
        ...(statuses === undefined ? {} : {status: statuses}),
        ...(agent_id === undefined ? {} : {agentId: modules.tasks.requireAgent(orchestrator, agent_id).id}),
        ...(session_id === undefined ? {} : {sessionId: session_id}),
        ...(limit === undefined ? {} : {limit}),
        ...(before_id === undefined ? {} : {beforeId: before_id}),
      }
      return {tasks: modules.tasks.listTasks(orchestrator, filter)}
    },
  }),
  operation<{task_id: number; attestation?: Attestation | null; generation?: number; force?: boolean}, object>({
    name: 'complete_task',
    title: 'Complete a task',
    summary: 'Mark a task in progress as completed.',
    effect: 'write',
    idempotent: false,
    input: object(
      {task_id: taskId, attestation: {...attestation, type: ['object', 'null']}, generation, force},
      {required: ['task_id']},
    ),
    output: object({ok: flag(), outcome: text(), task}, {required: ['ok', 'outcome', 'task']}),
    bindings: {
      rpc: {method: 'orch.complete_task'},
      tool: {
        name: 'svc_complete_task',
        tier: 'core',
        lane: 'workflow',
        renames: Object.fromEntries(attestationPaths),
        hidden: ['force'],
      },
      cli: {
        command: 'orch complete',
        renames: {id: 'task_id', summary: 'attestation.completion_summary', claim: 'generation'},
        hidden: attestationPaths.map(([, path]) => path).filter((path) => path !== 'attestation.completion_summary'),
        args: ['id'],
        piped: ['summary'],
      },
    },
    run: ({task_id, attestation: attested, ...finisher}, {modules, orchestrator}) =>
      modules.tasks.completeTask(orchestrator, task_id, toResult(attested ?? undefined), finisher),
  }),
  operation<{task_id: number; reason?: string; generation?: number; force?: boolean}, object>({
    name: 'fail_task',
    title: 'Fail a task',
    summary: 'Mark a task in progress as failed.',
    effect: 'write',
    idempotent: false,
    input: object(
      {task_id: taskId, reason: text('Reason for the failure.', {maxLength: 4096}), generation, force},
      {required: ['task_id']},
    ),
    output: done,
    bindings: {
      rpc: {method: 'orch.fail_task'},
      tool: {name: 'svc_fail_task', tier: 'dev', lane: 'workflow', hidden: ['force']},
      cli: {
        command: 'orch fail',
        renames: {id: 'task_id', claim: 'generation'},
        args: ['id'],
        required: ['reason'],
        chars: {reason: 'r'},
      },
    },
    run: ({task_id, reason = '', ...finisher}, {modules, orchestrator}) =>
      ok(modules.tasks.failTask(orchestrator, task_id, reason, finisher)),
  }),
  operation<{task_id: number; reason?: string}, object>({
    name: 'cancel_task',
    title: 'Cancel a task',
    summary: 'Cancel a task; tasks that depend on it fail.',
    effect: 'destructive',
    idempotent: true,
    input: object(
      {task_id: taskId, reason: text('Reason for the cancellation.', {maxLength: 4096})},
      {required: ['task_id']},
    ),
    output: done,
    bindings: {
      rpc: {method: 'orch.cancel_task'},
      tool: {name: 'svc_cancel_task', tier: 'dev', lane: 'workflow'},
      cli: {command: 'orch cancel', own: true},
    },
    run: ({task_id, reason}, {modules, orchestrator}) => ok(modules.tasks.cancelTask(orchestrator, task_id, reason)),
  }),
  operation<{task_id: number; dependants?: boolean}, object>({
    name: 'retry_task',
    title: 'Retry a task',
    summary: 'Retry a failed task.',
    effect: 'write',
    idempotent: false,
    input: object(
      {task_id: taskId, dependants: flag('Also retry the tasks that failed because of it.')},
      {required: ['task_id']},
    ),
    output: object({tasks: list(task)}, {required: ['tasks']}),
    bindings: {
      rpc: {method: 'orch.retry_task'},
      tool: {name: 'svc_retry_task', tier: 'dev', lane: 'workflow'},
      cli: {command: 'orch retry', own: true},
    },
    run: ({task_id, dependants = false}, {modules, orchestrator}) => ({
      tasks: modules.tasks.retryTask(orchestrator, task_id, {dependants}),
    }),
  }),
  operation<{older_than_ms: number; status?: FinishedStatus[]; dry_run?: boolean}, object>({
    name: 'prune_tasks',
    title: 'Prune tasks',
    summary: 'Delete old finished tasks that nothing refers to.',
    effect: 'destructive',
    idempotent: true,
    input: object(
      {
        older_than_ms: integer('Minimum time since a task finished, in milliseconds.', {minimum: 0}),
        status: list(oneOf(['Completed', 'Failed', 'Cancelled']), 'Only tasks with these statuses.', {maxItems: 3}),
        dry_run: flag('Count the tasks without deleting them.'),
      },
      {required: ['older_than_ms']},
    ),
    output: partOf(contractSchema('cli/orch-prune.v1')),
    bindings: {
      rpc: {method: 'orch.prune_tasks'},
      cli: {command: 'orch prune', own: true},
    },
    run: ({older_than_ms: olderThanMs, status: statuses, dry_run: dryRun}, {modules, orchestrator}) =>
      modules.tasks.pruneTasks(orchestrator, {olderThanMs, status: statuses, dryRun}),
  }),
  operation<{task_id: number; priority?: string}, object>({
    name: 'reorder_task',
    title: 'Reorder a task',
    summary: 'Change the priority of a queued task.',
    effect: 'write',
    idempotent: true,
    input: object({task_id: taskId, priority}, {required: ['task_id']}),
    output: done,
    bindings: {
      rpc: {method: 'orch.reorder_task'},
      tool: {name: 'svc_reorder_task', tier: 'dev', lane: 'workflow', required: ['priority']},
      cli: {command: 'orch reorder', renames: {id: 'task_id'}, args: ['id', 'priority'], required: ['priority']},
    },
    run: ({task_id, priority: word = 'normal'}, {modules, orchestrator}) =>
      ok(modules.reorderTask(orchestrator, task_id, modules.tasks.parsePriority(word))),
  }),
  operation<{task_id: number}, object>({
    name: 'approve_task',
    title: 'Approve a task',
    summary: 'Approve a task that requires approval.',
    effect: 'write',
    idempotent: false,
    input: object({task_id: taskId}, {required: ['task_id']}),
    output: done,
    bindings: {
      rpc: {method: 'orch.approve_task'},
      tool: {name: 'svc_approve_task', tier: 'dev', lane: 'workflow'},
      cli: {command: 'orch approve', renames: {id: 'task_id'}, args: ['id']},
    },
    run: ({task_id}, {modules, orchestrator}) => ok(modules.tasks.approveTask(orchestrator, task_id)),
  }),
  operation<{owner: string; agent_id?: string | number; ttl_ms?: number}, object>({
    name: 'claim_task',
    title: 'Claim a task',
    summary: 'Claim the next task for an external worker.',
    effect: 'write',
    idempotent: false,
    input: object(
      {
        owner: text('Name of the worker, shown to others.', {minLength: 1, maxLength: 256}),
        agent_id: {type: ['integer', 'string'], description: 'Only tasks of this agent: its name or id.'},
        ttl_ms: integer('Milliseconds until the claim expires without a heartbeat.', {minimum: 1, maximum: 3_600_000}),
      },
      {required: ['owner']},
    ),
    output: object({task, generation: integer()}, {required: ['task', 'generation']}),
    bindings: {
      rpc: {method: 'orch.claim_task'},
      tool: {name: 'svc_claim_task', tier: 'dev', lane: 'workflow'},
      cli: {command: 'orch claim', own: true},
    },
    run: ({owner, agent_id, ttl_ms}, {modules, orchestrator}) =>
      modules.tasks.claimTask(orchestrator, {
        owner,
        ...(agent_id === undefined ? {} : {agent: agent_id}),
        ...(ttl_ms === undefined ? {} : {ttlMs: ttl_ms}),
      }),
  }),
  operation<{task_id: number; generation: number; ttl_ms?: number}, object>({
    name: 'renew_claim',
    title: 'Renew a claim',
    summary: 'Extend the claim on a task.',
    effect: 'write',
    idempotent: true,
    input: object(
      {
        task_id: taskId,
        generation: integer('Generation of the claim.', {minimum: 1}),
        ttl_ms: integer('Milliseconds until the claim expires without another heartbeat.', {
          minimum: 1,
          maximum: 3_600_000,
        }),
      },
      {required: ['task_id', 'generation']},
    ),
    output: object({expires_at_ms: integer()}, {required: ['expires_at_ms']}),
    bindings: {
      rpc: {method: 'orch.renew_claim'},
      tool: {name: 'svc_renew_claim', tier: 'dev', lane: 'workflow'},
      cli: {command: 'orch heartbeat', own: true},
    },
    run: ({task_id, generation: claim, ttl_ms}, {modules, orchestrator}) => ({
      expires_at_ms: modules.tasks.renewClaim(orchestrator, task_id, {
        generation: claim,
        ...(ttl_ms === undefined ? {} : {ttlMs: ttl_ms}),
      }),
    }),
  }),
]
