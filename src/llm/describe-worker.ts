/** Worker thread that describes a model and ends. See `engine.ts`. */
import {parentPort, workerData} from 'node:worker_threads'
import {asRecord, type Greeting} from '../process/index.js'
import {failure} from './failure.js'
import type {LoadOptions} from './load-options.js'
import type {ModelDescription} from './model-description.js'
import {readModelFiles} from './model-files.js'

const {model, options} = workerData as {model: string; options: LoadOptions}
const greet = (greeting: Greeting<ModelDescription>) => parentPort?.postMessage(greeting)

try {
  greet({type: 'ready', description: (await readModelFiles(model, options)).description})
} catch (error) {
  greet({type: 'failed', error: asRecord(error, failure)})
}
