import type {OrchestratorConfig} from '../../workspace/index.js'
import type {Task} from './task.js'

/** True if tasks can be sent to other nodes: without polling for results, none would arrive. */
export const canDelegate = (config: OrchestratorConfig): boolean =>
  config.meshRemoteExecuteExperimental &&
  config.controlUrl !== undefined &&
  config.meshRemoteExecuteReceiverAgent !== undefined &&
  config.meshRemoteResultPollIntervalSecs > 0

/** True if a task is run by another node of the mesh if possible. With gating, only tasks with a listed role are. */
export function mayDelegate(
  config: OrchestratorConfig,
  {processor, execution_role: role}: {processor: Task['processor']; execution_role?: Task['execution_role'] | null},
): boolean {
  if (!canDelegate(config) || processor === 'external') return false
  const {meshRemoteLeaseGatingEnabled: isGated, meshRemoteLeaseGatedRoles: roles} = config
  return !isGated || (role != null && roles.some((each) => each === role))
}
