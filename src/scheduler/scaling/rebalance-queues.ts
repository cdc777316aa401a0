import {meetsRequirements} from '../../mesh/index.js'
import {agentLoads, appendEvent, moveWaitingTask, waitingTasks, writeState} from '../../tasks/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {type Move, planRebalance} from './rebalance.js'

/** Maximum number of waiting tasks per rebalance. */
const maxTasks = 2000

/**
 * Moves waiting tasks from busy agents to others, in one transaction. Running tasks, and tasks whose files are locked
 * by another agent, are not moved.
 */
export function rebalance(context: WorkspaceContext, {urgentOnly = false} = {}): Move[] {
  return context.store.transaction(() => {
    const {config, now} = context
    const agents = agentLoads(context)
    const waiting = waitingTasks(context, {minPriority: urgentOnly ? 'urgent' : 'background', limit: maxTasks})
    const needs = new Map(waiting.map((task) => [task.id, task.needs]))
    const offers = new Map(agents.map(({id, capabilities}) => [id, capabilities]))
    const moves = planRebalance(
      agents.map(({id, load, isPaused, model}) => ({
        id,
        load,
        paused: isPaused,
        pricePer1k: model === undefined ? undefined : config.modelPrices[model],
      })),
      waiting,
      {
        costPreference: config.costPreference,
        ...(urgentOnly ? {urgentThreshold: config.urgentRebalanceThreshold} : {}),
        // Routing does not test this, since it must place every task.
        fits: (taskId, agentId) => {
          const needed = needs.get(taskId)
          const offered = offers.get(agentId)
          return needed === undefined || offered === undefined || meetsRequirements(offered, needed)
        },
      },
    )
    for (const {taskId, to} of moves) moveWaitingTask(context, taskId, to)
    // Also recorded if nothing could be moved, so that it is not retried at every tick.
    writeState(context, 'last_rebalance_ms', now())
    if (urgentOnly && moves.length > 0) appendEvent(context, {type: 'urgent_rebalance_triggered', moved: moves.length})
    return moves
  })
}
