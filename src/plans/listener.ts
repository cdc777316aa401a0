import type {TaskListener} from '../tasks/index.js'
import {advancePlanOf} from './advance.js'
import {refuseReplaced, updateNode} from './node-status.js'
import {replanAfterFailure} from './recover.js'

/** Keeps plans in sync with the tasks of their nodes. */
export const planListener: TaskListener = {
  taskMoved: updateNode,
  taskEnded(context, {taskId, failure}) {
    if (failure === undefined || !replanAfterFailure(context, taskId, failure)) advancePlanOf(context, taskId)
  },
  taskReopening: (context, {taskId}) => refuseReplaced(context, taskId),
}
