/** Worker thread that computes the digest of one file and ends. See `file-digests.ts`. */
import {parentPort, workerData} from 'node:worker_threads'
import {SvcError} from '../errors/index.js'
import {asRecord, type Greeting} from '../process/index.js'
import {sha256Of} from './sha256.js'

const greet = (greeting: Greeting<string>) => parentPort?.postMessage(greeting)

try {
  greet({type: 'ready', description: await sha256Of(workerData as string)})
} catch (error) {
  const failure = (reason: string) => new SvcError('file_unreadable', {path: workerData as string, reason})
  greet({type: 'failed', error: asRecord(SvcError.from(error), failure)})
}
