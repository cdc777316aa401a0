import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {readConfigFile} from '../../src/config/index.js'
import {openOrchestrator} from '../../src/orchestrator/index.js'
import {startWorkflowRunner} from '../../src/workflow/engine/index.js'
import {plainPorts} from './support.js'

/** Continues the runs of a workspace like a daemon, and prints the journal, until standard input ends. */
const [root = ''] = process.argv.slice(2)
const file = await readConfigFile(join(root, 'Svc.toml'))
const context = await openOrchestrator({root, sources: {env: {}, file}})
const runner = startWorkflowRunner(context, {
  ports: plainPorts,
  onEntry: ({event, run_id}) => process.stdout.write(`${event} ${run_id}\n`),
})
process.stdout.write('ready\n')
for await (const _ of createInterface({input: process.stdin}));
await runner.stop()
context.close()
