/**
 * A client that runs in a child process. It claims and completes tasks of a workspace until none are left, then prints
 * the ids of the completed tasks. Arguments: the workspace, the name of the client.
 */
import {isErrorOf} from '../../../src/errors/index.js'
import {openOrchestrator} from '../../../src/orchestrator/index.js'
import {takeClaim} from '../../../src/tasks/index.js'
import {acceptTask} from './tasks.js'

const [root = '', owner = ''] = process.argv.slice(2)
const orchestrator = await openOrchestrator({root, sources: {env: {SVC_DATA_DIR: `${root}/data`}}})
const ids: number[] = []
try {
  for (;;) {
    const {task, generation} = takeClaim(orchestrator, {owner})
    acceptTask(orchestrator, task.id, {text: owner}, {generation})
    ids.push(task.id)
  }
} catch (error) {
  if (!isErrorOf(error, 'no_task_to_claim')) throw error
}
orchestrator.close()
process.stdout.write(JSON.stringify(ids))
