import type {TaskContext} from '../base/context.js'
import {readBaseline, storeBaseline} from '../evidence/evidence-rows.js'
import {baselineOf} from '../evidence/inspector.js'
import {type ClaimRequest, takeClaim} from '../lifecycle/claim.js'
import type {Started} from '../lifecycle/dispatch.js'

/**
 * Claims the next external task for a client, and records the state of the files that the task writes, before the
 * client can change them. The client must send heartbeats, and must complete or fail the task with the returned
 * generation. Expired claims are released first.
 * @throws no_task_to_claim, agent_not_found, hidden_checks_unread
 */
export async function claimTask(context: TaskContext, request: ClaimRequest): Promise<Started> {
  const started = takeClaim(context, request)
  await recordBaseline(context, started)
  return started
}

/** Records the state of the files that a started task writes, unless an earlier run did. */
export async function recordBaseline(context: TaskContext, {task}: Pick<Started, 'task'>): Promise<void> {
  const paths = task.file_manifest.flatMap(({path, access}) => (access === 'write' ? [path] : []))
  if (paths.length === 0 || readBaseline(context, task.id) !== undefined) return
  const files = await baselineOf(context.root, paths)
  storeBaseline(context, task.id, {taken_at_ms: task.started_at_ms ?? context.now(), files})
}
