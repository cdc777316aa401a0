import type {
  Draft,
  Execution,
  LoopMode,
  NewPlan,
  Plan,
  PlanDepth,
  PlanMode,
  PlanStatus,
  PlanStatusWord,
  PlanSummary,
  RefinementRequest,
  Replanned,
} from '../../orchestrator/index.js'
import type {OperationContext} from '../context.js'
import {type Operation, operation} from '../operation.js'
import {flag, integer, list, number, object, oneOf, text} from '../schema.js'

const goal = text('What is to be done.', {minLength: 1, maxLength: 65_536})
const plan = text('Id of the plan.', {minLength: 1, maxLength: 2048})
const origin = text('Session in which the goal came up; the plan has an id of its own.', {maxLength: 2048})
const mode = oneOf(
  ['auto', 'direct', 'force_plan', 'workflow_only'],
  'direct makes one step of it; workflow_only is refused.',
)
const scopeFiles = list(text(undefined, {minLength: 1, maxLength: 4096}), 'Files that the goal is about.', {
  maxItems: 4096,
})
const maxTasks = integer('Most steps; 30 when left out.', {minimum: 1, maximum: 2000})
const toDisk = flag('Also write PLAN.md at the root of the workspace.')
const tenant = text('Tenant that it belongs to.', {maxLength: 256})
const forceRisky = text('Why steps that look risky or vague are taken nevertheless.', {minLength: 1, maxLength: 4096})

const step = object(
  {id: integer(), node_id: text(), description: text(), depends_on: list(integer()), status: text()},
  {required: ['id', 'node_id', 'description', 'depends_on', 'status'], open: true},
)
const planMembers = {
  session_id: text(),
  goal: text(),
  summary: text(),
  versions: list(object({version: integer(), steps: list(step)}, {required: ['version', 'steps'], open: true})),
  written_to_disk: flag(),
}
const planRequired = ['session_id', 'goal', 'summary', 'versions', 'written_to_disk']

/** Where a plan is to be written; a place that it cannot be written to is told before anything is done. */
const placeOf = (
  {room, orchestrator}: OperationContext,
  isWritten: boolean | undefined,
): Promise<string | undefined> =>
  isWritten === true ? room.findPlanFile(orchestrator.root) : Promise.resolve(undefined)

/** Tells what is wrong with a plan that has been kept, and writes it where that was asked for. */
async function told<P extends Plan>(
  {room, notice}: OperationContext,
  path: string | undefined,
  kept: P,
): Promise<P & {written_to_disk: boolean}> {
  for (const {node_id, codes} of kept.findings ?? []) notice(`notice: ${node_id} is ${codes.join(' and ')}.`)
  if (path !== undefined) await room.writePlanFile(path, room.planMarkdown(kept))
  return {...kept, written_to_disk: path !== undefined}
}

/** Asks a model for steps: the one that this process is told of. */
async function draft(
  {room, orchestrator, sources, signal, notice, report}: OperationContext,
  request: Parameters<typeof room.draftWithModel>[1],
  sampling: {temperature?: number | undefined; topP?: number | undefined} = {},
): Promise<Draft> {
  const {resolveEndpoint} = await import('../../inference/index.js')
  const {endpoint} = resolveEndpoint(sources)
  return room.draftWithModel(orchestrator, request, {endpoint, signal, notice, report, ...sampling})
}

/** Steps of a model, where the settings have every plan made by one. */
async function stepsByModel(
  context: OperationContext,
  request: Parameters<typeof draft>[1],
): Promise<NewPlan['steps']> {
  const {planningLlmSynthesisEnabled: isModelAsked} = context.orchestrator.config
  if (!isModelAsked || request.mode === 'direct' || request.mode === 'workflow_only') return undefined
  return (await draft(context, request)).steps
}

interface PlanGoal {
  goal: string
  scope_files?: string[]
  write_to_disk?: boolean
  max_tasks?: number
  session_id?: string
  plan_depth?: PlanDepth
  auto_expand_thin_plan?: boolean
  loop_mode?: LoopMode
  max_refine_rounds?: number
  refine_budget_tokens?: number
  gap_risk_threshold?: number
  plan_page_offset?: number
  plan_page_limit?: number
  plan_telemetry_session_id?: string
  temperature?: number
  top_p?: number
  force_risky_reason?: string
}

const refinementOf = (input: PlanGoal): RefinementRequest => ({
  mode: input.loop_mode ?? 'off',
  autoExpand: input.auto_expand_thin_plan ?? true,
  maxRounds: input.max_refine_rounds ?? 2,
  budgetTokens: input.refine_budget_tokens ?? 18_000,
  riskThreshold: input.gap_risk_threshold ?? 0.28,
})

/** Has a model make a plan, makes it better where it is thin, and keeps it. */
async function planGoal(input: PlanGoal, context: OperationContext) {
  const {room, orchestrator} = context
  const path = await placeOf(context, input.write_to_disk)
  const refinement = refinementOf(input)
  const request = {goal: input.goal, scopeFiles: input.scope_files, maxTasks: input.max_tasks, depth: input.plan_depth}
  const sampling = {temperature: input.temperature, topP: input.top_p}
  const made = await draft(context, {...request, refinement}, sampling)
  const kept = room.newPlan(orchestrator, {
    goal: input.goal,
    originSessionId: input.session_id,
    steps: made.steps,
    forceRiskyReason: input.force_risky_reason,
    refinement: {rounds: made.rounds, stopReason: made.stopReason, metadata: metadataOf(made, input)},
  })
  return answer(await told(context, path, kept), made, input, room.planMarkdown(kept))
}

/** What is kept of how a plan came about. */
const metadataOf = ({madeBy, depth, tokens, adequacy}: Draft, input: PlanGoal) => ({
  made_by: madeBy,
  depth,
  loop_mode: refinementOf(input).mode,
  tokens,
  gap_risk: adequacy.meanRisk,
  ...(input.plan_telemetry_session_id === undefined ? {} : {telemetry_session_id: input.plan_telemetry_session_id}),
})

/** A plan as a tool tells it: its steps in pages, how it came about, and what it leaves open. */
function answer(
  {session_id, goal: asked, summary, versions: [{steps}], written_to_disk}: Plan & {written_to_disk: boolean},
  {depth, rounds, stopReason, adequacy, madeBy}: Draft,
  input: PlanGoal,
  plan_md: string,
) {
  const {plan_page_offset: offset = 0, plan_page_limit: limit = steps.length} = input
  const {mode: loopMode, autoExpand} = refinementOf(input)
  return {
    session_id,
    goal: asked,
    summary,
    plan_md,
    written_to_disk,
    tasks: steps.slice(offset, offset + limit).map(({id, description, category, files, complexity, depends_on}) => ({
      id,
      description,
      category,
      files: files.map(({path}) => path),
      estimated_complexity: complexity,
      depends_on,
    })),
    plan_total_tasks: steps.length,
    plan_page_offset: offset,
    plan_depth_effective: depth,
    loop_mode_effective: loopMode === 'off' && autoExpand ? 'off+auto_expand_thin' : loopMode,
    refinement_rounds: rounds,
    plan_adequacy_score: adequacy.score,
    plan_too_thin: adequacy.tooThin,
    planned_by: madeBy,
    last_aggregate_gap_risk: adequacy.meanRisk,
    ...(stopReason === undefined ? {} : {loop_stop_reason: stopReason}),
    ...(adequacy.codes.length === 0 ? {} : {adequacy_reason_codes: adequacy.codes}),
    ...(adequacy.gaps.length === 0 ? {} : {gap_report: adequacy.gaps}),
  }
}

const longestDescription = 200

/** A plan as a tool tells where it stands. */
const presentStatus = ({session_id, status, latest_version, steps, step_counts}: PlanStatus) => ({
  session_id,
  status,
  source: 'database',
  plan_version: latest_version,
  nodes: steps.map((each) => ({
    node_id: each.node_id,
    status: each.status,
    description: cut(each.description),
    workflow: each.workflow ?? null,
    task_id: each.task_id ?? null,
    attempts_count: each.attempts,
    last_outcome: each.last_outcome ?? null,
    last_error: each.last_error ?? null,
  })),
  progress: {total: steps.length, completed: step_counts.completed, failed: step_counts.failed},
})

const cut = (description: string): string =>
  description.length <= longestDescription ? description : `${description.slice(0, longestDescription - 1)}…`

/** Plans, and their way into tasks. */
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
    Plan & {written_to_disk: boolean}
  >({
    name: 'new_plan',
    title: 'Plan a goal',
    summary: 'Break a goal into steps, and keep them as a plan.',
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
    faces: {
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
      const {room, orchestrator} = context
      const path = await placeOf(context, input.write_to_disk)
      const {goal: asked, mode: wanted, scope_files, max_tasks} = input
      const request = {goal: asked, mode: wanted, scopeFiles: scope_files, maxTasks: max_tasks}
      const kept = room.newPlan(orchestrator, {
        ...request,
        steps: await stepsByModel(context, request),
        originSessionId: input.session_id,
        tenantId: input.tenant_id,
        forceRiskyReason: input.force_risky_reason,
      })
      return told(context, path, kept)
    },
  }),
  operation<PlanGoal, object>({
    name: 'plan_goal',
    title: 'Plan a goal with a model',
    summary: 'Have a model break a goal into steps, refine them, and keep them as a plan.',
    effect: 'write',
    idempotent: false,
    openWorld: true,
    input: object(
      {
        goal,
        scope_files: scopeFiles,
        write_to_disk: toDisk,
        max_tasks: maxTasks,
        session_id: origin,
        plan_depth: oneOf(['minimal', 'standard', 'deep']),
        auto_expand_thin_plan: flag('Refine a thin or risky plan even where loop_mode is off; true when left out.'),
        loop_mode: oneOf(['off', 'auto', 'force'], 'When to refine: never, a thin or risky plan, always.'),
        max_refine_rounds: integer(undefined, {minimum: 0, maximum: 8, default: 2}),
        refine_budget_tokens: integer(undefined, {minimum: 0, maximum: 200_000, default: 18_000}),
        gap_risk_threshold: number('Risk above which a plan is refined; 0.28 when left out.', {
          minimum: 0.05,
          maximum: 0.95,
        }),
        plan_page_offset: integer(undefined, {minimum: 0}),
        plan_page_limit: integer(undefined, {minimum: 1, maximum: 2000}),
        plan_telemetry_session_id: text(undefined, {maxLength: 2048}),
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
      },
      {required: ['session_id', 'summary', 'plan_md', 'tasks', 'plan_total_tasks', 'plan_too_thin'], open: true},
    ),
    faces: {tool: {name: 'svc_plan', tier: 'core', lane: 'workflow'}},
    run: planGoal,
  }),
  operation<
    {session_id: string; delta_hint: string; mode?: PlanMode; write_to_disk?: boolean; force_risky_reason?: string},
    Replanned & {written_to_disk: boolean}
  >({
    name: 'replan',
    title: 'Plan anew',
    summary: 'Make a plan anew with more about its goal; what is completed stays.',
    effect: 'destructive',
    idempotent: false,
    input: object(
      {
        session_id: plan,
        delta_hint: text('What is different now.', {minLength: 1, maxLength: 65_536}),
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
    faces: {
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
      const {room, orchestrator} = context
      const path = await placeOf(context, input.write_to_disk)
      const {session_id: id, delta_hint: delta, mode: wanted} = input
      const request = room.replanRequest(orchestrator, id, {delta, mode: wanted})
      const kept = room.replan(orchestrator, id, {
        delta,
        mode: wanted,
        steps: await stepsByModel(context, request),
        forceRiskyReason: input.force_risky_reason,
      })
      return told(context, path, kept)
    },
  }),
  operation<{session_id: string}, PlanStatus>({
    name: 'plan_status',
    title: 'Status of a plan',
    summary: 'Tell where a plan stands, step by step.',
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
      },
      {
        required: ['session_id', 'goal', 'status', 'execution_mode', 'latest_version', 'step_counts', 'recent_events'],
        open: true,
      },
    ),
    faces: {
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
          },
          {required: ['session_id', 'status', 'plan_version', 'nodes', 'progress'], open: true},
        ),
        present: presentStatus,
      },
      cli: {command: 'orch plan status', renames: {plan: 'session_id'}, args: ['plan']},
    },
    run: ({session_id}, {room, orchestrator}) => room.planStatus(orchestrator, session_id),
  }),
  operation<{session_id: string; tenant_id?: string; mode?: PlanMode}, Execution>({
    name: 'execute_plan',
    title: 'Execute a plan',
    summary: 'Submit the steps of a plan that can be done now as tasks; the others follow by themselves.',
    effect: 'write',
    idempotent: true,
    input: object({session_id: plan, tenant_id: tenant, mode}, {required: ['session_id']}),
    output: object(
      {task_ids: list(integer()), ok: flag(), held: list(object({}, {open: true}), 'Steps that were refused.')},
      {required: ['task_ids', 'ok']},
    ),
    faces: {
      rpc: {method: 'ai.plan.execute'},
      tool: {name: 'svc_plan_execute', tier: 'core', lane: 'workflow', hidden: ['mode']},
      cli: {
        command: 'orch plan execute',
        renames: {plan: 'session_id'},
        args: ['plan'],
        hidden: ['mode'],
        placeholders: {tenant_id: 'ID'},
      },
    },
    run: ({session_id, tenant_id, mode: wanted}, {room, orchestrator}) =>
      room.executePlan(orchestrator, session_id, {tenantId: tenant_id, mode: wanted}),
  }),
  operation<{status?: PlanStatusWord; session_id?: string; limit?: number}, {plans: PlanSummary[]}>({
    name: 'list_plans',
    title: 'List plans',
    summary: 'List plans, the newest first.',
    effect: 'read',
    idempotent: true,
    input: object({
      status: oneOf(['pending', 'active', 'completed', 'failed'], 'Only plans in this state.'),
      session_id: text('Only plans of goals that came up in this session.', {maxLength: 2048}),
      limit: integer('At most so many.', {minimum: 1, maximum: 1000, default: 50}),
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
    faces: {
      rpc: {method: 'orch.plan.list'},
      tool: {
        name: 'svc_plan_list_sessions',
        tier: 'dev',
        lane: 'workflow',
        renames: {status_filter: 'status', session_id_filter: 'session_id'},
      },
      cli: {command: 'orch plan list', placeholders: {session_id: 'ID'}},
    },
    run: ({status, session_id, limit}, {room, orchestrator}) => ({
      plans: room.listPlans(orchestrator, {status, originSessionId: session_id, limit}),
    }),
  }),
]
