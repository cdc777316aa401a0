/** Worker thread of the engine: loads one model and serves requests until it receives `close`. See `engine.ts`. */
import {type MessagePort, parentPort, workerData} from 'node:worker_threads'
import type {ErrorRecord} from '../errors/index.js'
import {configureLog, type LogOptions} from '../log/index.js'
import {asRecord, endOnRequest, type Greeting} from '../process/index.js'
import type {QuantizeProgress} from '../weights/index.js'
import type {ResidentAdapter} from './adapters/resident-adapters.js'
import {EngineCounters} from './counters.js'
import {failure} from './failure.js'
import {type LanguageModel, loadLanguageModel} from './language-model.js'
import type {LoadOptions} from './load-options.js'
import type {ModelDescription} from './model-description.js'
import type {GenerateEvent, TokenRequest} from './request.js'

export interface WorkerStart {
  model: string
  options: LoadOptions
  log: Omit<LogOptions, 'stream'> | undefined
  counters: SharedArrayBuffer
}

/** First message of the worker. */
export type WorkerGreeting = Greeting<ModelDescription>

/** Message to the worker. Each request has its own port for the answers. */
export type WorkerRequest =
  | {type: 'forget'; adapter: string}
  | {type: 'generate'; prompt: readonly number[]; request: TokenRequest; port: MessagePort}
  | {type: 'close'}

/** Message of the worker that is not about a request: its adapters have changed. */
export interface WorkerNotice {
  type: 'adapters'
  resident: readonly ResidentAdapter[]
}

/** Message on the port of a request. Any message to the port cancels the request. */
export type WorkerAnswer = GenerateEvent | {type: 'failed'; error: ErrorRecord}

const {model, options, log, counters} = workerData as WorkerStart
if (parentPort === null) throw new Error('worker.js runs in a worker thread.')
const parent = parentPort
endOnRequest(parent)
if (log !== undefined) configureLog(log)

/** Functions that end the running requests. */
const running = new Set<() => void>()

function answer(loaded: LanguageModel, {prompt, request, port}: Extract<WorkerRequest, {type: 'generate'}>): void {
  const cancelled = new AbortController()
  const send = (message: WorkerAnswer) => port.postMessage(message)
  const end = () => {
    running.delete(end)
    cancelled.abort()
    port.close()
  }
  const fail = (error: unknown) => {
    send({type: 'failed', error: asRecord(error, failure)})
    end()
  }
  running.add(end)
  port.once('message', end)
  port.once('close', end)
  try {
    loaded.submit(prompt, request, {event: send, fail}, cancelled.signal)
  } catch (error) {
    fail(error)
  }
}

const greet = (greeting: WorkerGreeting) => parent.postMessage(greeting)

/** Notices before the greeting are part of the load. */
let resident: readonly ResidentAdapter[] = []
let hasGreeted = false

function notify(notice: WorkerNotice): void {
  resident = notice.resident
  if (hasGreeted) parent.postMessage(notice)
}

try {
  const onProgress = (progress: QuantizeProgress) => parent.postMessage({type: 'progress', progress})
  const loaded = await loadLanguageModel(model, {...options, onProgress}, new EngineCounters(counters), (resident) =>
    notify({type: 'adapters', resident}),
  )
  parent.on('message', async (message: WorkerRequest) => {
    if (message.type === 'generate') {
      answer(loaded, message)
      return
    }
    if (message.type === 'forget') {
      loaded.forgetAdapter(message.adapter)
      notify({type: 'adapters', resident})
      return
    }
    parent.close()
    for (const end of running) end()
    await loaded.idle()
    await loaded.release()
  })
  greet({type: 'ready', description: loaded.description})
  hasGreeted = true
  notify({type: 'adapters', resident})
} catch (error) {
  greet({type: 'failed', error: asRecord(error, failure)})
  parent.unref()
}
