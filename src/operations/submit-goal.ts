import type {OrchHandedOffV1, SubmitTaskV1} from '../contracts/index.js'
import type {AcceptedPlan, GoalRoute} from '../plans/index.js'
import type {Accepted} from '../tasks/index.js'
import {reviewPlan, submitterOf} from './attention.js'
import type {OperationContext} from './context.js'
import {stepsByModel} from './plan-goal.js'

/** The reply to a submitted goal: its task, the first task of its plan, or the plan that a workflow works on. */
export type Submitted = Accepted | AcceptedPlan | OrchHandedOffV1

/**
 * Submits a goal as the settings and its planning mode require: as one task, as the tasks of a plan, or as a workflow.
 * Synchronous for one task that cannot be delegated.
 * @throws the errors of `submitTask`, `newPlan` and `executePlan`, plan_review_required, plan_mode_unsupported
 */
export function submitGoal(submission: SubmitTaskV1, context: OperationContext): Submitted | Promise<Submitted> {
  const {modules, orchestrator} = context
  const route = modules.plans.routeGoal(orchestrator, submission)
  if (route === undefined || route.isShadow || route.strategy === 'immediate_act')
    return placed(context, submitDirectly(submission, context, route))
  if (route.strategy === 'workflow_handoff') return modules.plans.handOffSubmission(orchestrator, submission, route)
  return submitPlan(submission, context, route)
}

function submitDirectly(submission: SubmitTaskV1, context: OperationContext, route: GoalRoute | undefined): Accepted {
  const {modules, orchestrator} = context
  return orchestrator.store.transaction(() => {
    const accepted = modules.tasks.submitTask(orchestrator, submission, {submitter: submitterOf(context)})
    if (route !== undefined) modules.plans.recordRoute(orchestrator, route, submission, {taskId: accepted.task_id})
    return accepted
  })
}

async function submitPlan(
  submission: SubmitTaskV1,
  context: OperationContext,
  route: GoalRoute,
): Promise<AcceptedPlan> {
  const {modules, orchestrator} = context
  const steps = await stepsByModel(context, modules.plans.draftRequestOf(submission))
  const {session_id: planId} = modules.plans.planSubmission(orchestrator, submission, route, steps)
  const submitter = await reviewPlan(context, planId)
  return placed(context, modules.plans.startSubmission(orchestrator, planId, submitter))
}

/** Waits until it is decided where a task runs that another node may run. */
function placed<A extends Accepted>({modules, orchestrator, signal}: OperationContext, accepted: A): A | Promise<A> {
  if (!modules.tasks.canDelegate(orchestrator.config)) return accepted
  return modules.delegation
    .awaitPlacement(orchestrator, accepted, signal)
    .then((decided) => ({...accepted, ...decided}))
}
