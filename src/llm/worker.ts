/** The engine's thread: loads one model, answers requests until it is told to close. See `engine.ts`. */
import {parentPort, workerData} from 'node:worker_threads'
import {SvcError} from '../errors/index.js'
import {configureLog} from '../log/index.js'
import type {WorkerAnswer, WorkerGreeting, WorkerRequest, WorkerStart} from './engine.js'
import {type LanguageModel, loadLanguageModel} from './language-model.js'

const {model, options, log} = workerData as WorkerStart
if (parentPort === null) throw new Error('worker.js runs in a worker thread.')
const parent = parentPort
if (log !== undefined) configureLog(log)

const requests = new Set<Promise<void>>()

async function answer(
  loaded: LanguageModel,
  {request, port}: Extract<WorkerRequest, {type: 'generate'}>,
): Promise<void> {
  const cancelled = new AbortController()
  port.once('message', () => cancelled.abort())
  const say = (message: WorkerAnswer) => port.postMessage(message)
  try {
    for await (const event of loaded.generate(request, cancelled.signal)) say(event)
  } catch (error) {
    if (!cancelled.signal.aborted) say({type: 'failed', error: asRecord(error)})
  } finally {
    port.close()
  }
}

/** A fault of the runtime has no row of its own: it is the generation that failed. */
function asRecord(error: unknown) {
  if (error instanceof SvcError) return error.toRecord()
  const {message} = error as Error
  return new SvcError('generation_failed', {reason: message.replace(/\.$/, '')}, {cause: error}).toRecord()
}

const greet = (greeting: WorkerGreeting) => parent.postMessage(greeting)

try {
  const loaded = await loadLanguageModel(model, options)
  parent.on('message', async (message: WorkerRequest) => {
    if (message.type === 'generate') {
      const request = answer(loaded, message)
      requests.add(request)
      void request.finally(() => requests.delete(request))
      return
    }
    parent.close()
    await Promise.all(requests)
    await loaded.release()
  })
  greet({type: 'ready', name: loaded.name, contextLength: loaded.contextLength})
} catch (error) {
  greet({type: 'failed', error: asRecord(error)})
}
