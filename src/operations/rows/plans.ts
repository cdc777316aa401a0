import type {Execution, Plan, PlanMode, PlanStatusWord, PlanSummary, Replanned} from '../../plans/index.js'
import {requireAttention, reviewPlan} from '../attention.js'
import {type Operation, operation} from '../operation.js'
import {type PlanGoal, planGoal, stepsByModel} from '../plan-goal.js'
import {type JudgedPlanStatus, presentStatus} from '../plan-shown.js'
import {flag, integer, list, number, object, oneOf, text} from '../schema.js'
import {planVersion, socrates} from '../shapes.js'
import {socratesOf} from '../socrates.js'
import {planPath, reportPlan, type WrittenPlan} from '../written-plan.js'

const goalLength = {minLength: 1, maxLength: 65_536}
const goal = text('Goal to plan.', goalLength)
const plan = text('Id of the plan.', {minLength: 1, maxLength: 2048})
const origin = text('Id of the session that the goal comes from; the plan has its own id.', {maxLength: 2048})
const mode = oneOf(
  ['auto', 'direct', 'force_plan', 'workflow_only'],
  'Planning mode: direct creates one step, auto and force_plan several; workflow_only is not supported; default: auto.',
)
const path = text(undefined, {minLength: 1, maxLength: 4096})
const maxPaths = {maxItems: 4096}
const scopeFiles = list(path, 'Files that the goal affects.', maxPaths)
const stepLimits = {minimum: 1, maximum: 2000, default: 30}
const maxTasks = integer('Maximum number of steps.', stepLimits)
const toDisk = flag('Also write the plan to PLAN.md.')
const tenant = text('Tenant id of the plan.', {maxLength: 256})
const forceRisky = text('Reason for keeping risky or vague steps.', {
  minLength: 1,
  maxLength: 4096,
})

const planMembers = {
  session_id: text(),
  goal: text(),
  summary: text(),
  versions: list(planVersion),
  written_to_disk: flag(),
  socrates,
}
const planRequired = ['session_id', 'versions']

/** Creating plans and executing them as tasks. */
export const planOperations: readonly Operation[] = [
  operation<
    {
      goal: string
      session_id?: string
      mode?: PlanMode
      scope_files?: string[]
      max_tasks?: number
      write_to_disk?: boolean
      tenant_id?: string
      force_risky_reason?: string
    },
    Plan & WrittenPlan
  >({
    name: 'new_plan',
    title: 'Plan a goal',
    summary: 'Break a goal into steps and store them as a plan.',
    effect: 'write',
    idempotent: false,
    input: object(
      {
        goal,
        session_id: origin,
        mode,
        scope_files: scopeFiles,
        max_tasks: maxTasks,
        write_to_disk: toDisk,
        tenant_id: tenant,
        force_risky_reason: forceRisky,
      },
      {required: ['goal']},
    ),
    output: object(planMembers, {required: planRequired, open: true}),
    bindings: {
      rpc: {method: 'ai.plan.new'},
      cli: {
        command: 'orch plan new',
        renames: {scope_file: 'scope_files', write: 'write_to_disk', force_risky: 'force_risky_reason'},
        args: ['goal'],
        piped: ['goal'],
        placeholders: {scope_file: 'PATH', session_id: 'ID', tenant_id: 'ID', force_risky: 'REASON'},
      },
    },
    async run(input, context) {
      requireAttention(context)
      const {modules, orchestrator} = context
      const path = await planPath(context, input.write_to_disk)
      const request = {goal: input.goal, mode: input.mode, scopeFiles: input.scope_files, maxTasks: input.max_tasks}
      const stored = modules.plans.newPlan(orchestrator, {
        ...request,
        steps: await stepsByModel(context, request),
        originSessionId: input.session_id,
        tenantId: input.tenant_id,
        forceRiskyReason: input.force_risky_reason,
      })
      return reportPlan(context, path, stored)
    },
  }),
  operation<PlanGoal, object>({
    name: 'plan_goal',
    title: 'Plan a goal with a model',
    summary: 'Break a goal into steps with a model, and store them as a plan.',
    effect: 'write',
    idempotent: false,
    openWorld: true,
    input: object(
      {
        goal: text(undefined, goalLength),
        scope_files: list(path, undefined, maxPaths),
        write_to_disk: toDisk,
        max_tasks: integer(undefined, stepLimits),
        session_id: text('Session that the goal comes from.', {maxLength: 2048}),
        plan_depth: oneOf(['minimal', 'standard', 'deep']),
        loop_mode: oneOf(['off', 'auto', 'force'], 'Refine the plan never, if it is thin, or always.'),
        auto_expand_thin_plan: {...flag('Refine a thin plan even if loop_mode is off.'), default: true},
        max_refine_rounds: integer(undefined, {minimum: 0, maximum: 8, default: 2}),
        refine_budget_tokens: integer(undefined, {minimum: 0, maximum: 200_000, default: 18_000}),
        gap_risk_threshold: {...number('Refine above this risk.', {minimum: 0.05, maximum: 0.95}), default: 0.28},
        plan_page_offset: integer(undefined, {minimum: 0}),
        plan_page_limit: integer(undefined, {minimum: 1, maximum: 2000}),
        plan_telemetry_session_id: text(undefined, {maxLength: 2048}),
        question_link_session_id: text(undefined, {maxLength: 2048}),
        temperature: number(undefined, {minimum: 0, maximum: 2}),
        top_p: number(undefined, {minimum: 0, maximum: 1}),
        force_risky_reason: forceRisky,
      },
      {required: ['goal']},
    ),
    output: object(
      {
        session_id: text(),
        summary: text(),
        plan_md: text(),
        tasks: list(
          object(
            {id: integer(), description: text(), depends_on: list(integer())},
            {
              required: ['id', 'description', 'depends_on'],
              open: true,
            },
          ),
        ),
        plan_total_tasks: integer(),
        plan_too_thin: flag(),
        socrates,
      },
      {required: ['session_id', 'plan_md', 'tasks', 'plan_too_thin'], open: true},
    ),
    bindings: {
      tool: {
        name: 'svc_plan',
        tier: 'core',
        lane: 'workflow',
        unlisted: [
          ...['auto_expand_thin_plan', 'max_refine_rounds', 'refine_budget_tokens', 'gap_risk_threshold'],
          ...['plan_telemetry_session_id', 'question_link_session_id', 'temperature', 'top_p'],
        ],
      },
    },
    run(input, context) {
      requireAttention(context)
      return planGoal(input, context)
    },
  }),
  operation<
    {session_id: string; delta_hint: string; mode?: PlanMode; write_to_disk?: boolean; force_risky_reason?: string},
    Replanned & WrittenPlan
  >({
    name: 'replan',
    title: 'Replan',
    summary: 'Create a new version of a plan; completed steps are kept.',
    effect: 'destructive',
    idempotent: false,
    input: object(
      {
        session_id: plan,
        delta_hint: text('Change to append to the goal, in one sentence.', {minLength: 1, maxLength: 65_536}),
        mode,
        write_to_disk: toDisk,
        force_risky_reason: forceRisky,
      },
      {required: ['session_id', 'delta_hint']},
    ),
    output: object(
      {...planMembers, replan_version: integer()},
      {required: [...planRequired, 'replan_version'], open: true},
    ),
    bindings: {
      rpc: {method: 'ai.plan.replan'},
      tool: {name: 'svc_replan', tier: 'core', lane: 'workflow'},
      cli: {
        command: 'orch plan replan',
        renames: {plan: 'session_id', delta: 'delta_hint', write: 'write_to_disk', force_risky: 'force_risky_reason'},
        args: ['plan', 'delta'],
        piped: ['delta'],
        placeholders: {force_risky: 'REASON'},
      },
    },
    async run(input, context) {
      requireAttention(context)
      const {modules, orchestrator} = context
      const path = await planPath(context, input.write_to_disk)
      const {session_id: id, delta_hint: delta, mode: planMode} = input
      const {version, ...request} = modules.plans.replanRequest(orchestrator, id, {delta, mode: planMode})
      const stored = modules.plans.replan(orchestrator, id, {
        delta,
        mode: planMode,
        steps: await stepsByModel(context, request),
        version,
        forceRiskyReason: input.force_risky_reason,
      })
      return reportPlan(context, path, stored)
    },
  }),
  operation<{session_id: string}, JudgedPlanStatus>({
    name: 'plan_status',
    title: 'Show plan status',
    summary: 'Show the status of a plan and of each of its steps.',
    effect: 'read',
    idempotent: true,
    input: object({session_id: plan}, {required: ['session_id']}),
    output: object(
      {
        session_id: text(),
        goal: text(),
        status: text(),
        execution_mode: text(),
        latest_version: integer(),
        step_counts: object({}, {open: true}),
        recent_events: list(object({}, {open: true})),
        socrates,
      },
      {
        required: ['session_id', 'goal', 'status', 'execution_mode', 'latest_version', 'step_counts', 'recent_events'],
        open: true,
      },
    ),
    bindings: {
      rpc: {method: 'ai.plan.status'},
      tool: {
        name: 'svc_plan_status',
        tier: 'core',
        lane: 'workflow',
        output: object(
          {
            session_id: text(),
            status: text(),
            plan_version: integer(),
            nodes: list(object({node_id: text(), status: text()}, {required: ['node_id', 'status'], open: true})),
            progress: object({}, {open: true}),
            socrates,
          },
          {required: ['session_id', 'status', 'plan_version', 'nodes'], open: true},
        ),
        present: presentStatus,
      },
      cli: {command: 'orch plan status', renames: {plan: 'session_id'}, args: ['plan']},
    },
    run({session_id}, {modules, orchestrator}) {
      const status = modules.plans.planStatus(orchestrator, session_id)
      const sessions = modules.plans.planSessions(orchestrator, session_id)
      return {...status, socrates: socratesOf({modules, orchestrator}, sessions, status.goal)}
    },
  }),
  operation<{session_id: string; tenant_id?: string; mode?: PlanMode}, Execution>({
    name: 'execute_plan',
    title: 'Execute a plan',
    summary: 'Execute a plan by submitting its steps as tasks.',
    effect: 'write',
    idempotent: true,
    input: object({session_id: plan, tenant_id: tenant, mode}, {required: ['session_id']}),
    output: object(
      {task_ids: list(integer()), ok: flag(), held: list(object({}, {open: true}), 'Steps not yet submitted.')},
      {required: ['task_ids', 'ok']},
    ),
    bindings: {
      rpc: {method: 'ai.plan.execute'},
      tool: {name: 'svc_plan_execute', tier: 'dev', lane: 'workflow', hidden: ['mode']},
      cli: {
        command: 'orch plan execute',
        renames: {plan: 'session_id'},
        args: ['plan'],
        hidden: ['mode'],
        placeholders: {tenant_id: 'ID'},
      },
    },
    async run({session_id, tenant_id, mode: planMode}, context) {
      requireAttention(context)
      const submitter = await reviewPlan(context, session_id)
      const {modules, orchestrator} = context
      return modules.plans.executePlan(orchestrator, session_id, {tenantId: tenant_id, mode: planMode, submitter})
    },
  }),
  operation<
    {status?: PlanStatusWord; session_id?: string; limit?: number; before_session_id?: string},
    {plans: PlanSummary[]}
  >({
    name: 'list_plans',
    title: 'List plans',
    summary: 'List plans, newest first.',
    effect: 'read',
    idempotent: true,
    input: object({
      status: oneOf(['pending', 'active', 'completed', 'failed'], 'Only plans with this status.'),
      session_id: text('Only plans for goals of this session.', {maxLength: 2048}),
      limit: integer('Maximum number of plans.', {minimum: 1, maximum: 1000, default: 50}),
      before_session_id: text('Only plans after this one in the list, to get the next page.', {
        minLength: 1,
        maxLength: 2048,
      }),
    }),
    output: object(
      {
        plans: list(
          object(
            {session_id: text(), goal: text(), status: text()},
            {
              required: ['session_id', 'goal', 'status'],
              open: true,
            },
          ),
        ),
      },
      {required: ['plans']},
    ),
    bindings: {
      rpc: {method: 'orch.plan.list'},
      tool: {
        name: 'svc_plan_list_sessions',
        tier: 'dev',
        lane: 'workflow',
        renames: {status_filter: 'status', session_id_filter: 'session_id'},
      },
      cli: {command: 'orch plan list', placeholders: {session_id: 'ID', before_session_id: 'ID'}},
    },
    run: ({status, session_id, before_session_id: before, limit}, {modules, orchestrator}) => ({
      plans: modules.plans.listPlans(orchestrator, {status, originSessionId: session_id, before, limit}),
    }),
  }),
]
