/**
 * A daemon of the workspace ROOT that kills itself before the first statement that matches PATTERN, with its values:
 * `die-at-statement ROOT PATTERN`.
 */
import {join} from 'node:path'
import {readConfigFile} from '../../../src/config/index.js'
import {resolveEndpoint} from '../../../src/inference-client/index.js'
import {openOrchestrator} from '../../../src/orchestrator/index.js'
import {localProcessors, runDaemon} from '../../../src/scheduler/index.js'

const [root = '', pattern = ''] = process.argv.slice(2)
const fatal = new RegExp(pattern)
const sources = {env: process.env, file: await readConfigFile(join(root, 'Svc.toml'))}
const orchestrator = await openOrchestrator({root, sources})
const {store} = orchestrator
const run = store.run.bind(store)
store.run = (...args: Parameters<typeof run>) => {
  if (fatal.test(JSON.stringify(args))) process.kill(process.pid, 'SIGKILL')
  return run(...args)
}
const {endpoint} = resolveEndpoint(sources)
const processors = localProcessors(orchestrator, {endpoint, env: process.env})
await runDaemon(orchestrator, {processors, signal: new AbortController().signal})
