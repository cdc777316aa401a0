import type {TaskListener} from '../workspace/index.js'
import {runsOfTask} from './store/activities.js'
import {pruneRuns, requestCancel, runsOfPlan, wakeRun} from './store/runs.js'

/** Maximum number of runs that a cleanup deletes. */
const prunedAtOnce = 100

/** Wakes the runs that wait for a task, in the transaction that ends it; cancels the runs of a replaced plan; deletes old runs. */
export const workflowListener: TaskListener = {
  taskEnded(context, {taskId}) {
    for (const run of runsOfTask(context, taskId)) wakeRun(context, run)
  },
  planReplaced(context, {planSessionId, version}) {
    for (const run of runsOfPlan(context, planSessionId, version)) requestCancel(context, run)
  },
  cleanup(context) {
    pruneRuns(context, {limit: prunedAtOnce})
  },
}
