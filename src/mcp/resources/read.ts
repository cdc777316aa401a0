import {isErrorOf} from '../../errors/index.js'
import type {OperationBase} from '../../operations/index.js'
import type {Task} from '../../tasks/index.js'
import {conversation} from './conversations.js'
import type {ResourceName} from './uri.js'

/** Number of tasks in the resource of recent tasks. */
const recent = 50

/** Reads the content of a resource; undefined if it does not exist. */
export async function readResource(base: OperationBase, name: ResourceName): Promise<object | undefined> {
  const {modules, orchestrator} = base
  if (name.kind === 'tasks') return {tasks: modules.tasks.listTasks(orchestrator, {limit: recent})}
  if (name.kind === 'chat') return conversation(base, name.sessionId)
  const task = findTask(base, name.id)
  return name.kind === 'task' || task === undefined ? task : transcriptOf(task)
}

function findTask({modules, orchestrator}: OperationBase, id: number): Task | undefined {
  try {
    return modules.tasks.requireTask(orchestrator, id)
  } catch (error) {
    if (isErrorOf(error, 'task_not_found')) return undefined
    throw error
  }
}

const transcriptOf = ({id, display_id, status, description, transcript, result, audit_report}: Task) => ({
  task_id: id,
  display_id,
  status,
  description,
  transcript,
  ...(result === undefined ? {} : {result}),
  ...(audit_report === undefined ? {} : {audit_report}),
})
