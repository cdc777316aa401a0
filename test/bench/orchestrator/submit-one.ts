/** Submits one task per line of its input, and prints the time of each submission, Unix ms. Argument: the workspace. */
import {createInterface} from 'node:readline'
import {openOrchestrator} from '../../../src/orchestrator/index.js'
import {submitTask} from '../../../src/tasks/index.js'

const [root = ''] = process.argv.slice(2)
const orchestrator = await openOrchestrator({root, sources: {env: {}}})
for await (const target_agent of createInterface({input: process.stdin})) {
  const at = performance.timeOrigin + performance.now()
  submitTask(orchestrator, {description: 'measured', target_agent})
  process.stdout.write(`${at}\n`)
}
orchestrator.close()
