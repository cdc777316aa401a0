/** Worker thread that quantises matrices; see `quantized-copies.ts`. */
import {parentPort, workerData} from 'node:worker_threads'
import {asRecord} from '../process/index.js'
import {failure} from './failure.js'
import {type QuantizeJob, runQuantizeJobs} from './quantize-jobs.js'

export interface QuantizeWork {
  target: string
  jobs: readonly QuantizeJob[]
  /** Index of the next job, shared by all threads. */
  next: Int32Array<SharedArrayBuffer>
}

const {target, jobs, next} = workerData as QuantizeWork

function* remaining(): Generator<QuantizeJob> {
  for (;;) {
    const job = jobs[Atomics.add(next, 0, 1)]
    if (job === undefined) return
    yield job
  }
}

try {
  runQuantizeJobs(target, remaining(), ({rows, input}) =>
    parentPort?.postMessage({type: 'progress', progress: rows * input}),
  )
  parentPort?.postMessage({type: 'ready', description: undefined})
} catch (error) {
  parentPort?.postMessage({type: 'failed', error: asRecord(error, failure)})
}
