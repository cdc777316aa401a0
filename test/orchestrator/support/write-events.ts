/**
 * A process that submits tasks to a workspace in turn. Arguments: the workspace, the number of tasks, and a word for
 * their descriptions.
 */
import {openOrchestrator} from '../../../src/orchestrator/index.js'
import {submitTask} from '../../../src/tasks/index.js'

const [root = '', count = '0', word = ''] = process.argv.slice(2)
const orchestrator = await openOrchestrator({root, sources: {env: {SVC_DATA_DIR: `${root}/data`}}})
for (let i = 0; i < Number(count); i++) submitTask(orchestrator, {description: `${word} ${i}`})
orchestrator.close()
