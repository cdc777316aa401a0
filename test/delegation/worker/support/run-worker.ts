/** Runs a worker in its own process: `node run-worker.js BASE_URL FOLDER`. */
import {runWorker} from '../../../../src/delegation/index.js'
import {createMeshClient} from '../../../../src/mesh/index.js'
import {workerOptions} from './delegation.js'

const [baseUrl = '', folder = ''] = process.argv.slice(2)
const mesh = createMeshClient({baseUrl, tokens: {}})
await runWorker({...workerOptions(mesh, folder), signal: new AbortController().signal})
