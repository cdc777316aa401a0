import {SvcError} from '../errors/index.js'
import type {Plan} from '../plans/index.js'
import type {OperationContext} from './context.js'

/** Where a plan is to be written; a place that it cannot be written to is told before anything is done. */
export async function placeOf(
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

/** Tells what is wrong with a plan that has been kept, and writes it where that was asked for. */
export async function reportPlan<P extends Plan>(
  context: OperationContext,
  path: string | undefined,
  kept: P,
): Promise<P & {written_to_disk: boolean}> {
  for (const {node_id, codes} of kept.findings ?? []) context.notice(`notice: ${node_id} is ${codes.join(' and ')}.`)
  return {...kept, written_to_disk: path !== undefined && (await isWrittenTo(path, kept, context))}
}

/** The plan is kept already: that it could not be written too is no reason to answer that there is none. */
async function isWrittenTo(path: string, kept: Plan, {modules, notice}: OperationContext): Promise<boolean> {
  try {
    await modules.plans.writePlanFile(path, modules.plans.planMarkdown(kept))
    return true
  } catch (error) {
    notice(`notice: ${modules.plans.planFile} was not written: ${SvcError.from(error).message}`)
    return false
  }
}
