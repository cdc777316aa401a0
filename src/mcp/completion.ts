import type {OperationBase} from '../operations/index.js'
import type {Task} from '../tasks/index.js'
import {conversationPage} from './resources/conversations.js'

/** What can be completed. */
export type Completable = 'task' | 'doubted_task' | 'agent' | 'chat'

/** Values that one answer holds at most: the protocol says so. */
const most = 100

export interface Completion {
  values: string[]
  total: number
  hasMore: boolean
}

/** What a word that was begun may become, the newest first. */
export async function complete(base: OperationBase, what: Completable, begun: string): Promise<Completion> {
  const word = begun.trim().toLowerCase()
  const values = await candidates(base, what, word)
  return {values: values.slice(0, most), total: values.length, hasMore: values.length > most}
}

async function candidates(base: OperationBase, what: Completable, word: string): Promise<string[]> {
  const {modules, orchestrator} = base
  const begins = (text: string) => text.toLowerCase().startsWith(word)
  switch (what) {
    case 'agent':
      return modules.tasks
        .listAgents(orchestrator)
        .map(({name}) => name)
        .filter(begins)
    case 'chat':
      return (await conversationPage(base, {offset: 0, limit: 1000})).map(({session_id}) => session_id).filter(begins)
    default: {
      const status: Task['status'][] | undefined = what === 'doubted_task' ? ['Doubted'] : undefined
      const tasks = modules.tasks.listTasks(orchestrator, {limit: 1000, ...(status === undefined ? {} : {status})})
      // `T-00` is completed to an id as it is shown, `4` to a number.
      return word.startsWith('t')
        ? tasks.map(({display_id}) => display_id).filter(begins)
        : tasks.map(({id}) => String(id)).filter(begins)
    }
  }
}
