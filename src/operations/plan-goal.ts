import type {Draft, LoopMode, NewPlan, Plan, PlanDepth, RefinementRequest} from '../plans/index.js'
import type {OperationContext} from './context.js'
import {placeOf, reportPlan} from './written-plan.js'

/** Asks a model for steps: the one that this process is told of. */
async function draft(
  {modules, orchestrator, sources, signal, notice, report}: OperationContext,
  request: Parameters<typeof modules.plans.draftWithModel>[1],
  sampling: {temperature?: number | undefined; topP?: number | undefined} = {},
): Promise<Draft> {
  const {resolveEndpoint} = await import('../inference-client/index.js')
  const {endpoint} = resolveEndpoint(sources)
  return modules.plans.draftWithModel(orchestrator, request, {endpoint, signal, notice, report, ...sampling})
}

/** Steps of a model, where the settings have every plan made by one. */
export async function stepsByModel(
  context: OperationContext,
  request: Parameters<typeof draft>[1],
): Promise<NewPlan['steps']> {
  const {planningLlmSynthesisEnabled: isModelAsked} = context.orchestrator.config
  if (!isModelAsked || request.mode === 'direct' || request.mode === 'workflow_only') return undefined
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

/** Has a model make a plan, makes it better where it is thin, and keeps it. */
export async function planGoal(input: PlanGoal, context: OperationContext) {
  const {modules, orchestrator} = context
  const path = await placeOf(context, input.write_to_disk)
  const refinement = refinementOf(input)
  const request = {goal: input.goal, scopeFiles: input.scope_files, maxTasks: input.max_tasks, depth: input.plan_depth}
  const sampling = {temperature: input.temperature, topP: input.top_p}
  const made = await draft(context, {...request, refinement}, sampling)
  const kept = modules.plans.newPlan(orchestrator, {
    goal: input.goal,
    scopeFiles: input.scope_files,
    originSessionId: input.session_id,
    questionSessionId: input.question_link_session_id,
    steps: made.steps,
    forceRiskyReason: input.force_risky_reason,
    refinement: {rounds: made.rounds, stopReason: made.stopReason, metadata: metadataOf(made, input)},
  })
  return answer(await reportPlan(context, path, kept), made, input, modules.plans.planMarkdown(kept))
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
