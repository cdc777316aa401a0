import type {OperationBase} from '../operations/index.js'
import type {Task} from '../tasks/index.js'
import {conversationPage} from './resources/conversations.js'

/** Kinds of values that can be completed. */
export type Completable = 'task' | 'doubted_task' | 'agent' | 'chat'

/** Maximum number of values in one response, set by the protocol. */
const maxValues = 100

export interface Completion {
  values: string[]
  total: number
  hasMore: boolean
}

export async function complete(base: OperationBase, kind: Completable, prefix: string): Promise<Completion> {
  const values = await candidates(base, kind, prefix.trim().toLowerCase())
  return {values: values.slice(0, maxValues), total: values.length, hasMore: values.length > maxValues}
}

async function candidates(base: OperationBase, kind: Completable, prefix: string): Promise<string[]> {
  const {modules, orchestrator} = base
  const matches = (text: string) => text.toLowerCase().startsWith(prefix)
  switch (kind) {
    case 'agent':
      return modules.tasks
        .listAgents(orchestrator)
        .map(({name}) => name)
        .filter(matches)
    case 'chat':
      return (await conversationPage(base, {offset: 0, limit: 1000})).map(({session_id}) => session_id).filter(matches)
    default: {
      const status: Task['status'][] | undefined = kind === 'doubted_task' ? ['Doubted'] : undefined
      const tasks = modules.tasks.listTasks(orchestrator, {limit: 1000, ...(status === undefined ? {} : {status})})
      // `T-00` completes to display ids, `4` to numbers.
      return prefix.startsWith('t')
        ? tasks.map(({display_id}) => display_id).filter(matches)
        : tasks.map(({id}) => String(id)).filter(matches)
    }
  }
}
