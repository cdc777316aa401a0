/**
 * A process that creates plans, executes them and completes their tasks until it is killed. Argument: the workspace,
 * which must exist. It prints a line for each task that is done.
 */
import {join} from 'node:path'
import {readConfigFile} from '../../src/config/index.js'
import {isErrorOf} from '../../src/errors/index.js'
import {openOrchestrator} from '../../src/orchestrator/index.js'
import {executePlan} from '../../src/plans/index.js'
import {takeClaim} from '../../src/tasks/index.js'
import {acceptTask} from '../orchestrator/support/tasks.js'
import {diamond} from './support.js'

const [root = ''] = process.argv.slice(2)
const file = await readConfigFile(join(root, 'Svc.toml'))
const orchestrator = await openOrchestrator({root, sources: {env: {SVC_DATA_DIR: join(root, 'data')}, file}})
for (;;)
  try {
    const {task, generation} = takeClaim(orchestrator, {owner: 'worker'})
    acceptTask(orchestrator, task.id, {text: 'done'}, {generation})
    process.stdout.write('done\n')
  } catch (error) {
    if (!isErrorOf(error, 'no_task_to_claim')) throw error
    executePlan(orchestrator, diamond(orchestrator).session_id)
  }
