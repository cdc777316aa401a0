import {join} from 'node:path'
import {readConfigFile} from '../../../src/config/index.js'
import {resolveEndpoint} from '../../../src/inference-client/index.js'
import {openOrchestrator} from '../../../src/orchestrator/index.js'
import {localProcessors, runDaemon} from '../../../src/scheduler/index.js'

/** Opens the workspace of a daemon that a test program changes before it runs. */
export async function openDaemon(root: string) {
  const sources = {env: process.env, file: await readConfigFile(join(root, 'Svc.toml'))}
  const orchestrator = await openOrchestrator({root, sources})
  const {endpoint} = resolveEndpoint(sources)
  const processors = localProcessors(orchestrator, {endpoint, env: process.env})
  return {
    store: orchestrator.store,
    processors,
    run: (changed: typeof processors = processors) =>
      runDaemon(orchestrator, {processors: changed, signal: new AbortController().signal}),
  }
}
