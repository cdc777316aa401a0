import {createInterface} from 'node:readline'
import {openOrchestrator} from '../../src/orchestrator/index.js'
import {startWorkflowRunner} from '../../src/workflow/engine/index.js'
import {plainPorts} from './support.js'

/** Continues the runs of a workspace like a daemon, and prints the journal, until standard input ends. */
const [root = ''] = process.argv.slice(2)
const context = await openOrchestrator({root, sources: {env: {}}})
const runner = startWorkflowRunner(context, {
  ports: plainPorts,
  onEntry: ({event, run_id}) => process.stdout.write(`${event} ${run_id}\n`),
})
process.stdout.write('ready\n')
for await (const _ of createInterface({input: process.stdin}));
await runner.stop()
context.close()
