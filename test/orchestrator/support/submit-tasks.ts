/** Submits a task for each line of its input, and prints its id. Argument: the workspace. */
import {createInterface} from 'node:readline'
import {openOrchestrator} from '../../../src/orchestrator/index.js'
import {submitTask} from '../../../src/tasks/index.js'

const [root = ''] = process.argv.slice(2)
const orchestrator = await openOrchestrator({root, sources: {env: {SVC_DATA_DIR: `${root}/data`}}})
for await (const description of createInterface({input: process.stdin}))
  process.stdout.write(`${submitTask(orchestrator, {description}).task_id}\n`)
orchestrator.close()
