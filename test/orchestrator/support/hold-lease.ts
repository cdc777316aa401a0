/** A daemon whose runs never end. Argument: the workspace. */
import {openOrchestrator} from '../../../src/orchestrator/index.js'
import {runDaemon} from '../../../src/scheduler/index.js'
import {ScriptedProcessor, untilAborted} from './daemon.js'

const [root = ''] = process.argv.slice(2)
const orchestrator = await openOrchestrator({root, sources: {env: {SVC_DATA_DIR: `${root}/data`}}})
const processor = new ScriptedProcessor((_, __, signal) => untilAborted(signal))
await runDaemon(orchestrator, {processors: {ai: processor, exec: processor}, signal: new AbortController().signal})
