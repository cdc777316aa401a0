/** The engine's thread: loads one model, answers requests until it is told to close. See `engine.ts`. */
import {parentPort, workerData} from 'node:worker_threads'
import {configureLog} from '../log/index.js'
import {asRecord} from '../thread/index.js'
import {EngineCounters} from './counters.js'
import type {WorkerAnswer, WorkerGreeting, WorkerRequest, WorkerStart} from './engine.js'
import {failure} from './failure.js'
import {type LanguageModel, loadLanguageModel} from './language-model.js'

const {model, options, log, counters} = workerData as WorkerStart
if (parentPort === null) throw new Error('worker.js runs in a worker thread.')
const parent = parentPort
if (log !== undefined) configureLog(log)

/** Each ends one request. */
const running = new Set<() => void>()

function answer(loaded: LanguageModel, {prompt, request, port}: Extract<WorkerRequest, {type: 'generate'}>): void {
  const cancelled = new AbortController()
  const say = (message: WorkerAnswer) => port.postMessage(message)
  const end = () => {
    running.delete(end)
    cancelled.abort()
    port.close()
  }
  const fail = (error: unknown) => {
    say({type: 'failed', error: asRecord(error, failure)})
    end()
  }
  running.add(end)
  port.once('message', end)
  port.once('close', end)
  try {
    loaded.submit(prompt, request, {event: say, fail}, cancelled.signal)
  } catch (error) {
    fail(error)
  }
}

const greet = (greeting: WorkerGreeting) => parent.postMessage(greeting)

try {
  const loaded = await loadLanguageModel(model, options, new EngineCounters(counters))
  parent.on('message', async (message: WorkerRequest) => {
    if (message.type === 'generate') {
      answer(loaded, message)
      return
    }
    parent.close()
    for (const end of running) end()
    await loaded.idle()
    await loaded.release()
  })
  greet({type: 'ready', description: loaded.description})
} catch (error) {
  greet({type: 'failed', error: asRecord(error, failure)})
}
