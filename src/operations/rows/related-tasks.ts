import type {RelatedTasks} from '../../tasks/index.js'
import {type Operation, operation} from '../operation.js'
import {flag, integer, list, object, taskId, text} from '../schema.js'

const related = object(
  {
    task_id: integer(),
    display_id: text(),
    description: text('First line.'),
    status: text(),
    depends_on: list(integer(), 'Task that it waits for.'),
  },
  {required: ['task_id', 'display_id', 'description', 'status', 'depends_on']},
)

/** The tasks before and after a task. */
export const relatedTaskOperations: readonly Operation[] = [
  operation<{task_id: number; limit?: number}, RelatedTasks>({
    name: 'related_tasks',
    title: 'List related tasks',
    summary: 'List the tasks that a task waits for, directly or not, and those that wait for it.',
    effect: 'read',
    idempotent: true,
    input: object(
      {
        task_id: taskId,
        limit: integer('Maximum number of tasks in each direction.', {minimum: 1, maximum: 1000, default: 100}),
      },
      {required: ['task_id']},
    ),
    output: object(
      {
        prerequisites: list(related, 'Task that must be completed before; the nearest are first.'),
        dependants: list(related, 'Task that waits; the nearest are first.'),
        truncated: flag('There are more.'),
      },
      {required: ['prerequisites', 'dependants', 'truncated']},
    ),
    bindings: {rpc: {method: 'orch.related_tasks'}},
    run: ({task_id, limit = 100}, {modules, orchestrator}) =>
      modules.tasks.relatedTasks(orchestrator, task_id, {limit}),
  }),
]
