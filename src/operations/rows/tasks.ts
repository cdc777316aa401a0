import {contractSchema, type SubmitTaskV1} from '../../contracts/index.js'
import type {FinishedStatus, Task, TaskGraph} from '../../tasks/index.js'
import {requireAttention, submitterOf} from '../attention.js'
import type {OperationContext} from '../context.js'
import {type Operation, operation} from '../operation.js'
import {flag, integer, list, maxDurationMs, object, oneOf, partOf, taskId, text} from '../schema.js'
import {task} from '../shapes.js'
import {submitGoal} from '../submit-goal.js'

const priority = text('Priority: background, normal or urgent.', {maxLength: 16})
const generation = integer('Generation of the claim; required while the task is claimed.', {minimum: 1})
const force = flag('Override the claim of the current holder.')

/** Task labels: its own states, and "held for another node". */
const {enum: labels} = (contractSchema('cli/orch-task.v1') as {$defs: {task_label: {enum: readonly string[]}}}).$defs
  .task_label
const status = oneOf(labels)

const done = object({ok: flag(), task}, {required: ['ok', 'task']})
const ok = (changed: Task) => ({ok: true as const, task: changed})

const acceptedMembers = {
  task_id: integer(),
  display_id: text(),
  agent_id: integer(),
  agent_name: text(),
  status: text(),
  duplicate: flag(),
  orchestration_contract: text(),
  conflict_warnings: list(text(), 'Sentences about the scope of the agent and the description.'),
}
const accepted = object(acceptedMembers, {required: ['task_id', 'display_id', 'agent_id', 'status'], open: true})

/** A planned goal has a plan and its first task; a goal that a workflow works on has only a plan. */
const submitted = object(
  {...acceptedMembers, plan_session_id: text(), task_ids: list(integer())},
  {required: ['status'], open: true},
)

const submission = partOf(contractSchema('orchestration/submit-task.v1'))

/** Attestation of finished work: `completion_summary` is the result; other members are stored with it. */
interface Attestation {
  completion_summary?: string
  [detail: string]: unknown
}

const attested = {
  completion_summary: text('Result of the task.', {maxLength: 131_072}),
  checks_passed: list(text(), 'Check that passed.', {maxItems: 1000}),
  evidence_citations: list(text(), 'Source in the context envelope that supports the result.', {maxItems: 1000}),
  artifact_paths: list(text(), 'File that was written.', {maxItems: 1000}),
  acceptance: list(text(), 'Evidence for an acceptance line, such as 2=check:test or 1=file:src/a.ts.', {
    maxItems: 1000,
  }),
  declared_non_placeholder: flag('Declare that the work is complete and not a stub.'),
  force_risky: flag('Skip the check of these declarations; requires a reason, which is recorded.'),
  force_risky_reason: text('Reason for skipping the check of the declarations.', {maxLength: 4096}),
  no_change_needed: text('Reason why files of the task need no change.', {maxLength: 4096}),
  observation_summary: text('What was observed during the work.', {maxLength: 131_072}),
}
const attestation = object(attested)
/** For bindings that flatten the members of the attestation into the input, or omit them. */
const attestationPaths = Object.keys(attested).map((name) => [name, `attestation.${name}`] as const)

function toResult(attestation: Attestation = {}) {
  const {completion_summary: summary = '', ...details} = attestation
  return Object.keys(attestation).length === 0 ? undefined : {...details, text: summary}
}

/** Rejects tasks of sessions with an unanswered question. @throws question_pending */
function requireAnswers({modules, orchestrator}: OperationContext, tasks: readonly SubmitTaskV1[]): void {
  for (const session of new Set(tasks.map(({session_id}) => session_id)))
    modules.tasks.requireNoQuestion(orchestrator, session)
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
    output: submitted,
    bindings: {
      rpc: {method: 'orch.submit_task'},
      tool: {
        name: 'svc_submit_task',
        tier: 'core',
        lane: 'workflow',
        task: 'submit',
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
          lost_node: 'enqueue_hints.lost_node',
          tool_hints: 'enqueue_hints.tool_hints',
          research_hints: 'enqueue_hints.research_hints',
          required_labels: 'enqueue_hints.required_labels',
          is_detached: 'enqueue_hints.is_detached',
          active_skill: 'enqueue_hints.active_skill',
          socrates_context: 'enqueue_hints.socrates_context',
        },
        unlisted: [
          ...[
            'trace_id',
            'correlation_id',
            'tenant_id',
            'campaign_id',
            'benchmark_tier',
            'tool_hints',
            'research_hints',
            'required_labels',
            'is_detached',
            'lost_node',
            'model_override',
            'active_skill',
            'thread_id',
          ],
          ...['test_decision', 'planning_mode', 'goal_type', 'goal_scope', 'max_plan_depth'],
          ...['harness_spec_json', 'context_envelope_json', 'retrieval', 'socrates_context', 'exec.secrets'],
        ],
        // The task has members of the same meaning as these hints.
        hidden: [
          ...['temp_deps', 'files', 'task_timeout_ms', 'retries', 'not_before_ms'],
          ...['thread_id', 'trace_id', 'tenant_id', 'requires_approval', 'harness_spec_json'].map(
            (name) => `enqueue_hints.${name}`,
          ),
        ],
      },
      cli: {command: 'orch submit', own: true},
    },
    run(input, context) {
      requireAttention(context)
      requireAnswers(context, [input])
      return submitGoal(input, context)
    },
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
    run({tasks}, context) {
      requireAttention(context)
      requireAnswers(context, tasks)
      const {modules, orchestrator} = context
      return {tasks: modules.tasks.submitBatch(orchestrator, tasks, {submitter: submitterOf(context)})}
    },
  }),
  operation<{dag: TaskGraph; task: SubmitTaskV1; shards?: number}, object>({
    name: 'submit_dag',
    title: 'Submit a graph of tasks',
    summary: 'Queue the tasks of a predefined graph for a goal, all or none.',
    effect: 'write',
    idempotent: false,
    input: object(
      {
        dag: oneOf(
          ['coding', 'shard'],
          'coding: plan, draft, critique, repair; shard: generators with a validator each, then one that joins them.',
        ),
        task: {...submission, description: 'What the tasks have in common; its description is the goal.'},
        shards: integer('Number of generators; required for shard.', {minimum: 1, maximum: 500}),
      },
      {required: ['dag', 'task']},
    ),
    output: object({tasks: list(accepted)}, {required: ['tasks']}),
    bindings: {
      rpc: {method: 'orch.submit_dag'},
      tool: {name: 'svc_submit_dag', tier: 'advanced', lane: 'workflow'},
    },
    run({dag: graph, task: goal, shards}, context) {
      requireAttention(context)
      requireAnswers(context, [goal])
      const {modules, orchestrator} = context
      const request = {graph, task: goal, shards}
      return {tasks: modules.tasks.submitGraph(orchestrator, request, {submitter: submitterOf(context)})}
    },
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
  operation<{task_id: number}, object>({
    name: 'test_decision',
    title: 'Show the test decision of a task',
    summary: 'Show whether the work of a task should be tested, and why.',
    effect: 'read',
    idempotent: true,
    input: object({task_id: taskId}, {required: ['task_id']}),
    output: object(
      {
        task_id: integer(),
        decision: oneOf(['required', 'recommended', 'deferred', 'skip']),
        rationale: text(),
        recorded_at_ms: integer(),
      },
      {required: ['task_id', 'decision', 'rationale', 'recorded_at_ms']},
    ),
    bindings: {
      rpc: {method: 'orch.test_decision'},
      tool: {name: 'svc_test_decision', tier: 'dev', lane: 'workflow'},
    },
    run: ({task_id}, {modules, orchestrator}) => modules.tasks.testDecisionOf(orchestrator, task_id),
  }),
  operation<{task_id: number; output?: boolean; evidence?: boolean}, {task: Task}>({
    name: 'get_task',
    title: 'Show a task',
    summary: 'Show a task with its request, status and result.',
    effect: 'read',
    idempotent: true,
    input: object(
      {
        task_id: taskId,
        output: flag('Include the output of the latest run of its command.'),
        evidence: flag('Include the evidence for its completion.'),
      },
      {required: ['task_id']},
    ),
    output: object({task}, {required: ['task']}),
    bindings: {
      rpc: {method: 'orch.get_task'},
      tool: {name: 'svc_get_task', tier: 'dev', lane: 'workflow'},
      cli: {command: 'orch task', own: true},
    },
    async run({task_id, output = false, evidence = false}, {modules, orchestrator, signal}) {
      const {taskEvidence, taskWithPlan} = modules.tasks
      const task = taskWithPlan(orchestrator, task_id, {output})
      return {task: evidence ? {...task, evaluation: await taskEvidence(orchestrator, task_id, {signal})} : task}
    },
  }),
  operation<
    {
      status?: Task['status'][]
      agent_id?: string | number
      session_id?: string
      depends_on?: number
      limit?: number
      before_id?: number
    },
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
      depends_on: integer('Only tasks that wait for this one.', {minimum: 1}),
      limit: integer(undefined, {minimum: 1, maximum: 1000, default: 50}),
      before_id: integer('Only tasks with a smaller id, to get the next page.', {minimum: 1}),
    }),
    output: object({tasks: list(task)}, {required: ['tasks']}),
    bindings: {
      rpc: {method: 'orch.list_tasks'},
      tool: {name: 'svc_task_list', tier: 'core', lane: 'workflow', unlisted: ['depends_on']},
      cli: {command: 'orch tasks', own: true},
    },
    run({status: statuses, agent_id, session_id, depends_on, limit, before_id}, {modules, orchestrator}) {
      const filter = {
        ...(statuses === undefined ? {} : {status: statuses}),
        ...(agent_id === undefined ? {} : {agentId: modules.tasks.requireAgent(orchestrator, agent_id).id}),
        ...(session_id === undefined ? {} : {sessionId: session_id}),
        ...(depends_on === undefined ? {} : {dependsOn: depends_on}),
        ...(limit === undefined ? {} : {limit}),
        ...(before_id === undefined ? {} : {beforeId: before_id}),
      }
      return {tasks: modules.tasks.listTasks(orchestrator, filter)}
    },
  }),
  operation<{task_id: number; attestation?: Attestation | null; generation?: number; force?: boolean}, object>({
    name: 'complete_task',
    title: 'Complete a task',
    summary: 'Complete a task whose evidence passes the gates.',
    effect: 'write',
    idempotent: true,
    input: object(
      {task_id: taskId, attestation: {...attestation, type: ['object', 'null']}, generation, force},
      {required: ['task_id']},
    ),
    output: object(
      {
        ok: flag(),
        outcome: oneOf(['completed', 'requeued', 'failed']),
        task,
        receipt: text('Digest of the accepted evidence, which verify_task recomputes.'),
        gate: text('Gate that did not accept the result.'),
        iteration: integer('Number of times that gates of this kind have returned the task.'),
        cap: integer('Maximum number of times; then the task fails.'),
        report: text('What to correct.'),
      },
      {required: ['ok', 'outcome', 'task']},
    ),
    bindings: {
      rpc: {method: 'orch.complete_task'},
      tool: {
        name: 'svc_complete_task',
        tier: 'core',
        lane: 'workflow',
        renames: Object.fromEntries(attestationPaths),
        unlisted: ['force_risky', 'force_risky_reason', 'no_change_needed', 'observation_summary', 'acceptance'],
        hidden: ['force'],
        output: object(
          {ok: flag(), outcome: oneOf(['completed', 'requeued', 'failed']), report: text('What to correct.'), task},
          {required: ['ok', 'outcome', 'task'], open: true},
        ),
      },
      cli: {
        command: 'orch complete',
        renames: {
          id: 'task_id',
          summary: 'attestation.completion_summary',
          claim: 'generation',
          artifact: 'attestation.artifact_paths',
          check: 'attestation.checks_passed',
          cite: 'attestation.evidence_citations',
          met: 'attestation.acceptance',
          non_placeholder: 'attestation.declared_non_placeholder',
          force_risky: 'attestation.force_risky',
          force_risky_reason: 'attestation.force_risky_reason',
          no_change_needed: 'attestation.no_change_needed',
        },
        hidden: ['attestation.observation_summary'],
        args: ['id'],
        piped: ['summary'],
        placeholders: {artifact: 'PATH', check: 'NAME', cite: 'SOURCE', met: 'LINE=EVIDENCE'},
      },
    },
    run: ({task_id, attestation: attested, ...finisher}, {modules, orchestrator, signal}) =>
      modules.tasks.completeTask(orchestrator, task_id, toResult(attested ?? undefined), finisher, {signal}),
  }),
  operation<{task_id: number; reason?: string; generation?: number; force?: boolean}, object>({
    name: 'fail_task',
    title: 'Fail a task',
    summary: 'Mark a task in progress as failed.',
    effect: 'write',
    idempotent: true,
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
    run: ({task_id, reason}, context) =>
      ok(context.modules.tasks.cancelTask(context.orchestrator, task_id, {reason, by: submitterOf(context)})),
  }),
  operation<{task_id: number; dependants?: boolean}, object>({
    name: 'retry_task',
    title: 'Retry a task',
    summary: 'Retry a failed or cancelled task.',
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
        older_than_ms: integer('Minimum time since a task finished, in milliseconds.', {
          minimum: 0,
          maximum: maxDurationMs,
        }),
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
      ok(modules.reorderTask(orchestrator, task_id, modules.workspace.parsePriority(word))),
  }),
  operation<{task_id: number; by?: string}, object>({
    name: 'approve_task',
    title: 'Approve a task',
    summary: 'Approve a task that requires approval or review.',
    effect: 'write',
    idempotent: false,
    input: object(
      {task_id: taskId, by: text('Name of the person who approves.', {minLength: 1, maxLength: 256})},
      {required: ['task_id']},
    ),
    output: done,
    bindings: {
      rpc: {method: 'orch.approve_task'},
      // Approval through a tool comes from a model: it starts a task, but does not count as a person's review.
      tool: {name: 'svc_approve_task', tier: 'dev', lane: 'workflow', hidden: ['by']},
      cli: {command: 'orch approve', renames: {id: 'task_id', as: 'by'}, args: ['id'], placeholders: {as: 'NAME'}},
    },
    run: ({task_id, by}, {modules, orchestrator, surface}) =>
      ok(modules.tasks.approveTask(orchestrator, task_id, surface === 'cli' ? (by ?? modules.tasks.localUser()) : by)),
  }),
  operation<{task_id: number}, object>({
    name: 'verify_task',
    title: 'Verify a receipt',
    summary: 'Verify the receipt of a completed task.',
    effect: 'read',
    idempotent: true,
    input: object({task_id: taskId}, {required: ['task_id']}),
    output: partOf(contractSchema('cli/orch-verify.v1')),
    bindings: {
      rpc: {method: 'orch.verify_task'},
      tool: {name: 'svc_verify_task', tier: 'advanced', lane: 'workflow'},
      cli: {command: 'orch verify', renames: {id: 'task_id'}, args: ['id']},
    },
    run: ({task_id}, {modules, orchestrator}) => modules.tasks.verifyTask(orchestrator, task_id),
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
