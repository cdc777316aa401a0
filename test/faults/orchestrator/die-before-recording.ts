/**
 * A daemon of the workspace ROOT that kills itself after the start of its first command, before it stores the process:
 * `die-before-recording ROOT`.
 */
import {join} from 'node:path'
import {readConfigFile} from '../../../src/config/index.js'
import {resolveEndpoint} from '../../../src/inference-client/index.js'
import {openOrchestrator} from '../../../src/orchestrator/index.js'
import {localProcessors, runDaemon} from '../../../src/scheduler/index.js'

const [root = ''] = process.argv.slice(2)
const sources = {env: process.env, file: await readConfigFile(join(root, 'Svc.toml'))}
const orchestrator = await openOrchestrator({root, sources})
const {endpoint} = resolveEndpoint(sources)
const {ai, exec} = localProcessors(orchestrator, {endpoint, env: process.env})
await runDaemon(orchestrator, {
  processors: {
    ai,
    exec: {
      run: (task, report, signal) =>
        exec.run(task, {...report, process: () => process.kill(process.pid, 'SIGKILL')}, signal),
    },
  },
  signal: new AbortController().signal,
})
