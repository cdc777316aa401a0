/** Plans: a goal drafted into steps, reviewed, executed as tasks, and replanned if steps fail. */
export {retryHeldPlans} from './advance.js'
export {findingTexts} from './drafting/quality.js'
export type {DraftStep} from './drafting/step.js'
export {type Execution, executePlan} from './execute.js'
export {planListener} from './listener.js'
export {draftWithModel} from './model/draft.js'
export type {Draft, RefinementRequest} from './model/refine.js'
export {type NewPlan, newPlan} from './new-plan.js'
export {nodeOfTask} from './node-status.js'
export {considerPlan, recordPlanReview} from './plan-attention.js'
export {findPlanFile, planFile, planMarkdown, writePlanFile} from './plan-file.js'
export {type Replanned, replan, replanRequest} from './replan.js'
export {type GoalRoute, recordRoute, routeGoal} from './route-goal.js'
export {planFragment} from './schema.js'
export {listPlans, type PlanStatus, type PlanSummary, planSessions, planStatus, type StepStatus} from './status.js'
export {
  type AcceptedPlan,
  draftRequestOf,
  handOffSubmission,
  planSubmission,
  startSubmission,
} from './submit-goal.js'
export type {Plan, PlanStep} from './view.js'
export type {LoopMode, PlanDepth, PlanMode, PlanStatusWord} from './vocabulary.js'
