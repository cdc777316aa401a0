/** A random walk in a process of its own: `walk-gates-process ROOT NAME SEED STEPS`. Prints its report as JSON. */
import {join} from 'node:path'
import {readConfigFile} from '../../../src/config/index.js'
import {openOrchestrator} from '../../../src/orchestrator/index.js'
import {walkGates} from './walk-gates.js'

const [root = '', name = '', seed = '', steps = ''] = process.argv.slice(2)
const file = await readConfigFile(join(root, 'Svc.toml'))
const orchestrator = await openOrchestrator({root, sources: {env: {SVC_DATA_DIR: join(root, 'data')}, file}})
const report = await walkGates(orchestrator, {name, seed: Number(seed), steps: Number(steps)})
orchestrator.close()
process.stdout.write(JSON.stringify(report))
