import {type OrchHandedOffV1, type SubmitTaskV1, withoutUndefined} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {type Accepted, appendPlanLineage, type Submitter} from '../tasks/index.js'
import type {WorkspaceContext} from '../workspace/index.js'
import type {DraftStep} from './drafting/step.js'
import {startPlan} from './execute.js'
import {type DraftRequest, newPlan} from './new-plan.js'
import {setNodeStatus, settlePlan} from './node-status.js'
import {requirePlan, updatePlan} from './plan-rows.js'
import {type GoalRoute, recordRoute} from './route-goal.js'
import {carriedOf} from './submission.js'
import type {Plan} from './view.js'

/** The first task of a planned goal, with its plan and the tasks that were submitted, in the order of the steps. */
export type AcceptedPlan = Accepted & Required<Pick<Accepted, 'plan_session_id' | 'task_ids'>>

/** The request from which the steps of a submitted goal are drafted. */
export const draftRequestOf = ({description, max_plan_depth, ...rest}: SubmitTaskV1): DraftRequest => ({
  goal: description,
  scopeFiles: (rest.file_manifest ?? rest.files ?? []).map(({path}) => path),
  ...withoutUndefined({maxTasks: max_plan_depth}),
})

/**
 * Stores the plan of a submitted goal. Does not submit any tasks.
 * @param steps drafted by a model; default: drafted from the goal
 * @throws as `newPlan`
 */
export const planSubmission = (
  context: WorkspaceContext,
  submission: SubmitTaskV1,
  route: GoalRoute,
  steps: readonly DraftStep[] | undefined,
): Plan =>
  context.store.transaction(() => {
    const plan = newPlan(context, {
      ...draftRequestOf(submission),
      steps,
      ...withoutUndefined({originSessionId: submission.session_id, tenantId: submission.tenant_id}),
      submission: carriedOf(submission),
      ...(route.strategy === 'workflow_handoff' ? {mode: 'direct', strategy: route.strategy} : {}),
    })
    recordRoute(context, route, submission, {planId: plan.session_id})
    return plan
  })

/** Executes the plan of a submitted goal. @throws as `executePlan` */
export function startSubmission(context: WorkspaceContext, planId: string, submitter: Submitter): AcceptedPlan {
  const {accepted, held} = startPlan(context, planId, {submitter})
  const [first] = accepted
  // A new plan has at least one step without dependencies, and `startPlan` throws if none was accepted.
  if (first === undefined) throw new SvcError('plan_stuck', {plan: planId, nodes: []})
  const task_ids = accepted.map(({task_id: id}) => id)
  return {...first, plan_session_id: planId, task_ids, ...(held.length === 0 ? {} : {held})}
}

/**
 * Hands a submitted goal to the workflow engine: its plan has one step, which the workflow works on.
 * @throws plan_mode_unsupported if the settings or this process have no workflows; the errors of `newPlan` and of the
 *   workflow engine
 */
export async function handOffSubmission(
  context: WorkspaceContext,
  submission: SubmitTaskV1,
  route: GoalRoute,
): Promise<OrchHandedOffV1> {
  const {startWorkflow, config} = context
  if (startWorkflow === undefined || !config.planningWorkflowHandoffEnabled)
    throw new SvcError('plan_mode_unsupported', {mode: 'workflow_only'})
  const {session_id: planSessionId} = planSubmission(context, submission, route, undefined)
  const handoff = {goal: submission.description, planSessionId, nodeId: 'n1', version: 1}
  const node = {plan_session_id: planSessionId, version: handoff.version, node_id: handoff.nodeId}
  context.store.transaction(() => {
    updatePlan(context, planSessionId, {status: 'active'})
    setNodeStatus(context, node, 'in_progress')
    appendPlanLineage(context, 'workflow_handoff_started', requirePlan(context, planSessionId), {node_id: node.node_id})
  })
  try {
    await startWorkflow(handoff)
  } catch (error) {
    context.store.transaction(() => {
      setNodeStatus(context, node, 'failed', {reason: (error as Error).message})
      settlePlan(context, node)
    })
    throw error
  }
  return {plan_session_id: planSessionId, strategy: 'workflow_handoff', status: 'active', task_ids: []}
}
