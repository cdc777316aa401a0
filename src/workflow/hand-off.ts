import {resolve} from 'node:path'
import {SvcError} from '../errors/index.js'
import type {WorkflowHandoff, WorkspaceContext} from '../workspace/index.js'

/**
 * Starts the workflow for a goal in the configured file: the one that the goal names, or the only one. It gets the goal
 * as input. The daemon drives the run.
 * @throws plan_mode_unsupported if no file is configured; the errors of files; workflow_unknown, workflow_input_invalid
 */
export async function handOffGoal(
  context: WorkspaceContext,
  {goal, planSessionId, nodeId, version}: WorkflowHandoff,
): Promise<void> {
  const {planningWorkflowFile: setting} = context.config
  if (setting === undefined) throw new SvcError('plan_mode_unsupported', {mode: 'workflow_only'})
  const {createRun, findWorkflow, readWorkflows} = await import('./engine/index.js')
  const file = resolve(context.root, setting)
  const workflows = await readWorkflows(file)
  const named = workflows.find(({name}) => goal.toLowerCase().includes(name.toLowerCase().replaceAll(/[-_]/g, ' ')))
  const workflow = named ?? findWorkflow(workflows, file, undefined)
  const input = 'goal' in workflow.inputs ? {goal} : {}
  createRun(context, workflow, {input, source: file, plan: {sessionId: planSessionId, nodeId, version}})
}
