import type {TaskListener} from '../workspace/index.js'
import {advancePlanOf} from './advance.js'
import {refuseReplaced, setNodeStatus, settlePlan, updateNode} from './node-status.js'
import {replanAfterFailure} from './recover.js'

/** Keeps plans in sync with the tasks of their nodes. */
export const planListener: TaskListener = {
  taskMoved: updateNode,
  taskEnded(context, {taskId, failure}) {
    if (failure === undefined || !replanAfterFailure(context, taskId, failure)) advancePlanOf(context, taskId)
  },
  workflowEnded(context, {planSessionId, nodeId, version, status, error}) {
    const node = {plan_session_id: planSessionId, node_id: nodeId, version}
    setNodeStatus(context, node, status, error === undefined ? {} : {reason: error})
    settlePlan(context, node)
  },
  taskReopening: (context, {taskId}) => refuseReplaced(context, taskId),
}
