import type {Draft, LoopMode, NewPlan, Plan, PlanDepth, RefinementRequest} from '../plans/index.js'
import type {OperationContext} from './context.js'
import {planPath, reportPlan, type WrittenPlan} from './written-plan.js'

/** Drafts steps with the configured model. */
async function draft(
  {modules, orchestrator, sources, signal, notice, report}: OperationContext,
  request: Parameters<typeof modules.plans.draftWithModel>[1],
  options: {temperature?: number | undefined; topP?: number | undefined; sessionId?: string | undefined} = {},
): Promise<Draft> {
  const {resolveEndpoint} = await import('../inference-client/index.js')
  const {endpoint} = resolveEndpoint(sources)
  return modules.plans.draftWithModel(orchestrator, request, {endpoint, signal, notice, report, ...options})
}

/** Steps drafted by a model, if the settings enable that for all plans. */
export async function stepsByModel(
  context: OperationContext,
  request: Parameters<typeof draft>[1],
): Promise<NewPlan['steps']> {
  const {planningLlmSynthesisEnabled: usesModel} = context.orchestrator.config
  if (!usesModel || request.mode === 'direct' || request.mode === 'workflow_only') return undefined
  return (await draft(context, request)).steps
}

export interface PlanGoal {
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
  question_link_session_id?: string
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

/** Drafts a plan with a model, refines it if it is thin, and stores it. */
export async function planGoal(input: PlanGoal, context: OperationContext) {
  const {modules, orchestrator} = context
  const path = await planPath(context, input.write_to_disk)
  const refinement = refinementOf(input)
  const request = {goal: input.goal, scopeFiles: input.scope_files, maxTasks: input.max_tasks, depth: input.plan_depth}
  const sessionId = input.plan_telemetry_session_id ?? input.session_id
  const options = {temperature: input.temperature, topP: input.top_p, sessionId}
  const drafted = await draft(context, {...request, refinement}, options)
  const plan = modules.plans.newPlan(orchestrator, {
    goal: input.goal,
    scopeFiles: input.scope_files,
    originSessionId: input.session_id,
    questionSessionId: input.question_link_session_id,
    steps: drafted.steps,
    forceRiskyReason: input.force_risky_reason,
    refinement: {rounds: drafted.rounds, stopReason: drafted.stopReason, metadata: metadataOf(drafted, input)},
  })
  return answer(await reportPlan(context, path, plan), drafted, input, modules.plans.planMarkdown(plan))
}

/** Metadata about the drafting of a plan, stored with it. */
const metadataOf = ({madeBy, depth, tokens, adequacy}: Draft, input: PlanGoal) => ({
  made_by: madeBy,
  depth,
  loop_mode: refinementOf(input).mode,
  tokens,
  gap_risk: adequacy.meanRisk,
  ...(input.plan_telemetry_session_id === undefined ? {} : {telemetry_session_id: input.plan_telemetry_session_id}),
})

/** The answer of the tool: a page of steps, drafting details, and gaps of the plan. */
function answer(
  {session_id, goal: asked, summary, versions: [{steps}], written_to_disk, socrates}: Plan & WrittenPlan,
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
    socrates,
    last_aggregate_gap_risk: adequacy.meanRisk,
    ...(stopReason === undefined ? {} : {loop_stop_reason: stopReason}),
    ...(adequacy.codes.length === 0 ? {} : {adequacy_reason_codes: adequacy.codes}),
    ...(adequacy.gaps.length === 0 ? {} : {gap_report: adequacy.gaps}),
  }
}
