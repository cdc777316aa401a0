import {isErrorOf, SvcError} from '../../errors/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {compileWorkflow} from '../definition/compile.js'
import type {Workflow} from '../definition/definition.js'
import {completeInput} from '../definition/input.js'
import {readWorkflows} from '../definition/read.js'
import {isHeld, leaseHeld} from '../store/lease.js'
import {
  adoptDefinition,
  canResume,
  definitionOf,
  findRun,
  finished,
  insertRun,
  isFinished,
  type NewRun,
  type RunRow,
  reopenRun,
  requestCancel,
  requireRun,
} from '../store/runs.js'
import {type Driven, type DriveOptions, driveRun} from './drive.js'

/**
 * Starts a run and drives it. With the id of an existing run, continues that run.
 * @param adopt continue an existing run although its definition differs
 * @throws workflow_input_invalid, workflow_run_id_invalid, workflow_changed, workflow_finished, workflow_lease_held
 */
export function startRun(
  context: WorkspaceContext,
  workflow: Workflow,
  run: NewRun & {adopt?: boolean},
  options: DriveOptions,
): Driven & {runId: string} {
  const existing = run.runId === undefined ? undefined : findRun(context, run.runId)
  const row = context.store.transaction(() => {
    if (existing === undefined) return createRun(context, workflow, run)
    requireContinuable(existing)
    useDefinition(context, existing, workflow, run.adopt ?? false)
    return existing
  })
  return {runId: row.run_id, ...driveRun(context, row.run_id, {...options, workflow})}
}

/** Inserts a run that another process drives. @throws workflow_input_invalid, workflow_run_id_invalid, workflow_run_exists */
export const createRun = (context: WorkspaceContext, workflow: Workflow, run: NewRun): RunRow =>
  insertRun(context, workflow, {...run, input: completeInput(workflow, run.input)})

/**
 * Continues an interrupted, waiting or failed run with its definition. If the file of the definition has changed, the
 * change must be adopted.
 * @throws workflow_run_not_found, workflow_finished, workflow_changed, workflow_lease_held
 */
export async function resumeRun(
  context: WorkspaceContext,
  runId: string,
  {adopt = false, ...options}: DriveOptions & {adopt?: boolean},
): Promise<Driven> {
  const run = requireRun(context, runId)
  requireContinuable(run)
  const current = await currentDefinition(run)
  if (current === undefined) return driveRun(context, runId, options)
  useDefinition(context, run, current, adopt)
  return driveRun(context, runId, {...options, workflow: current})
}

/**
 * Lets the daemon continue a run, as `resumeRun` does in this process.
 * @throws workflow_run_not_found, workflow_finished, workflow_changed, workflow_lease_held
 */
export async function handOverRun(context: WorkspaceContext, runId: string, adopt = false): Promise<void> {
  const current = await currentDefinition(requireRun(context, runId))
  context.store.transaction(() => {
    const run = requireRun(context, runId)
    requireContinuable(run)
    if (isHeld(run, context.now())) throw leaseHeld(run)
    if (current !== undefined) useDefinition(context, run, current, adopt)
    reopenRun(context, runId)
  })
}

/** @throws workflow_finished */
function requireContinuable(run: RunRow): void {
  if (isFinished(run) && !canResume(run)) throw finished(run)
}

/** The workflow in the file of a run; undefined if there is no such file or workflow any more. */
async function currentDefinition({source_path: path, workflow_name: name}: RunRow): Promise<Workflow | undefined> {
  if (path === null) return undefined
  try {
    return (await readWorkflows(path)).find((workflow) => workflow.name === name)
  } catch (error) {
    if (isErrorOf(error, 'file_not_found') || isErrorOf(error, 'file_unreadable')) return undefined
    throw error
  }
}

/** @throws workflow_changed */
function useDefinition(context: WorkspaceContext, run: RunRow, workflow: Workflow, adopt: boolean): void {
  const {run_id, definition_digest: digest, workflow_name: name, source_path: path} = run
  if (digest === workflow.digest && name === workflow.name) return
  if (!adopt || name !== workflow.name)
    throw new SvcError('workflow_changed', {run: run_id, workflow: name, file: path ?? workflow.name})
  adoptDefinition(context, run_id, workflow)
}

/**
 * Asks for a run to be cancelled. If no process drives it, this one does, so that its compensations run.
 * @throws workflow_run_not_found, workflow_finished
 */
export async function cancelRun(context: WorkspaceContext, runId: string, options: DriveOptions): Promise<RunRow> {
  const run = askToCancel(context, runId)
  if (isHeld(run, context.now())) return requireRun(context, runId)
  try {
    return await driveRun(context, runId, {...options, stays: true}).done
  } catch (error) {
    // Another process was faster.
    if (isErrorOf(error, 'workflow_lease_held')) return requireRun(context, runId)
    throw error
  }
}

/** Asks the process that drives a run, or else the daemon, to cancel it. @throws workflow_run_not_found, workflow_finished */
export const askToCancel = (context: WorkspaceContext, runId: string): RunRow =>
  context.store.transaction(() => {
    const run = requireRun(context, runId)
    if (isFinished(run)) throw finished(run)
    requestCancel(context, runId)
    return run
  })

/** The compiled definition of a run. @throws workflow_invalid */
export const workflowOf = (run: RunRow): Workflow => compileWorkflow(run.workflow_name, definitionOf(run), run.run_id)
