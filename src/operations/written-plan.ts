import {SvcError} from '../errors/index.js'
import type {Plan} from '../plans/index.js'
import type {OperationContext} from './context.js'
import {type Socrates, socratesOf} from './socrates.js'

/** What is reported about a plan besides its contents. */
export interface WrittenPlan {
  written_to_disk: boolean
  socrates: Socrates
}

/** The path to write a plan to. @throws plan_file_blocked before anything is done, if the path is not a file */
export async function planPath(
  {modules, orchestrator}: OperationContext,
  isWritten: boolean | undefined,
): Promise<string | undefined> {
  if (isWritten !== true) return undefined
  const path = await modules.plans.findPlanFile(orchestrator.root)
  const {lstat} = await import('node:fs/promises')
  const found = await lstat(path).catch(() => undefined)
  if (found !== undefined && !found.isFile()) throw new SvcError('plan_file_blocked', {path})
  return path
}

/**
 * Reports the findings about a stored plan as notices, and writes the plan to a file if a path is passed. Returns it
 * with a judgement of the evidence of its sessions.
 */
export async function reportPlan<P extends Plan>(
  context: OperationContext,
  path: string | undefined,
  plan: P,
): Promise<P & WrittenPlan> {
  for (const {node_id, codes} of plan.findings ?? []) {
    context.notice(`notice: ${node_id} ${codes.map((code) => context.modules.plans.findingTexts[code]).join(' and ')}.`)
  }
  const sessions = context.modules.plans.planSessions(context.orchestrator, plan.session_id)
  const socrates = socratesOf(context, sessions, plan.goal)
  return {...plan, socrates, written_to_disk: path !== undefined && (await isWrittenTo(path, plan, context))}
}

/** A failure to write the file is only a notice, since the plan is already stored. */
async function isWrittenTo(path: string, plan: Plan, {modules, notice}: OperationContext): Promise<boolean> {
  try {
    await modules.plans.writePlanFile(path, modules.plans.planMarkdown(plan))
    return true
  } catch (error) {
    notice(`notice: ${modules.plans.planFile} was not written: ${SvcError.from(error).message}`)
    return false
  }
}
