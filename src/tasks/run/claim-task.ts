import type {WorkspaceContext} from '../../workspace/index.js'
import {type ClaimRequest, takeClaim} from '../lifecycle/claim.js'
import type {Started} from '../lifecycle/dispatch.js'
import {TaskRun} from './task-run.js'

/**
 * Claims the next external task for a client, and records the state of the files that the task writes, before the
 * client can change them. The client must send heartbeats, and must complete or fail the task with the returned
 * generation. Expired claims are released first.
 * @throws no_task_to_claim, agent_not_found, hidden_checks_unread
 */
export async function claimTask(context: WorkspaceContext, request: ClaimRequest): Promise<Started> {
  const started = takeClaim(context, request)
  await new TaskRun(context, started).baseline()
  return started
}
