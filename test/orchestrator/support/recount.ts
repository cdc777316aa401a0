import type {Orchestrator} from '../../../src/orchestrator/index.js'

interface Counters {
  id: number
  queued_background: number
  queued_normal: number
  queued_urgent: number
  running: number
  doubted: number
  completed: number
  /** In units of 1/25. */
  load: number
}

/** The counters of each agent in the store. */
export const keptCounters = ({store}: Orchestrator): Counters[] =>
  store.all<Counters>(
    `SELECT id, queued_background, queued_normal, queued_urgent, running, doubted, completed, load
FROM orch_agents ORDER BY id`,
  )

/** The counters of each agent, computed from its tasks. */
export function recount({store}: Orchestrator): Counters[] {
  const tasks = store.all<{agent_id: number; status: string; priority: number; complexity: number}>(
    'SELECT agent_id, status, priority, complexity FROM orch_tasks',
  )
  return store.all<{id: number}>('SELECT id FROM orch_agents ORDER BY id').map(({id}) => {
    const own = tasks.filter(({agent_id}) => agent_id === id)
    const count = (status: string, priority?: number) =>
      own.filter((task) => task.status === status && (priority ?? task.priority) === task.priority).length
    const open = own.filter(({status}) => status === 'Queued' || status === 'InProgress')
    const weight = [0.4, 1, 3]
    return {
      id,
      queued_background: count('Queued', 0),
      queued_normal: count('Queued', 1),
      queued_urgent: count('Queued', 2),
      running: count('InProgress'),
      doubted: count('Doubted'),
      completed: count('Completed'),
      load: Math.round(open.reduce((sum, task) => sum + ((weight[task.priority] ?? 0) * task.complexity) / 5, 0) * 25),
    }
  })
}
