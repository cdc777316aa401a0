/** Worker thread of the speech engine: opens one model and recognises windows until it is closed. See `engine.ts`. */
import {parentPort, workerData} from 'node:worker_threads'
import {type ErrorRecord, SvcError} from '../../errors/index.js'
import {configureLog, type LogOptions} from '../../log/index.js'
import {asRecord, endOnRequest, type Greeting} from '../../process/index.js'
import type {QuantizeProgress} from '../../weights/index.js'
import type {
  Draft,
  DraftStream,
  LanguageGuess,
  RecognitionOptions,
  SpeechModel,
  SpeechModelDescription,
  WindowResult,
} from '../model/model.js'
import {failure} from './failure.js'
import {type OpenSpeechModelOptions, openSpeechModel} from './open-model.js'

export interface WorkerStart {
  path: string
  options: OpenSpeechModelOptions
  log: Omit<LogOptions, 'stream'> | undefined
}

/** First message of the worker. */
export type WorkerGreeting = Greeting<SpeechModelDescription>

/** Requests to the worker, which are handled in order. The caller chooses `id`. */
export type WorkerRequest =
  | {type: 'recognise'; id: number; samples: Float32Array; options: RecognitionOptions}
  | {type: 'recognise-all'; id: number; samples: readonly Float32Array[]; options: RecognitionOptions}
  | {type: 'detect-language'; id: number; samples: Float32Array}
  /** The caller chooses `stream`; the first request of a stream starts it with `options`. */
  | {type: 'draft'; id: number; stream: number; samples: Float32Array; options: RecognitionOptions}
  | {type: 'end-draft'; stream: number}
  | {type: 'cancel'; id: number}
  | {type: 'close'}

export type WorkerAnswer =
  | {type: 'recognised'; id: number; result: WindowResult}
  | {type: 'recognised-all'; id: number; results: WindowResult[]}
  | {type: 'detected'; id: number; guesses: LanguageGuess[]}
  | {type: 'drafted'; id: number; draft: Draft}
  | {type: 'failed'; id: number; error: ErrorRecord}

const {path, options, log} = workerData as WorkerStart
if (parentPort === null) throw new Error('worker.js runs in a worker thread.')
const parent = parentPort
endOnRequest(parent)
if (log !== undefined) configureLog(log)

type Question = Exclude<WorkerRequest, {type: 'cancel' | 'close' | 'end-draft'}>

const drafts = new Map<number, DraftStream>()

const running = new Map<number, AbortController>()
/** Requests run one at a time. */
let last: Promise<void> = Promise.resolve()

async function answer(model: SpeechModel, question: Question, signal: AbortSignal): Promise<WorkerAnswer> {
  const {id} = question
  try {
    signal.throwIfAborted()
    if (question.type === 'recognise')
      return {type: 'recognised', id, result: await model.recognise(question.samples, question.options, signal)}
    if (question.type === 'recognise-all') {
      const recognise = model.recogniseAll as NonNullable<SpeechModel['recogniseAll']>
      return {type: 'recognised-all', id, results: await recognise(question.samples, question.options, signal)}
    }
    if (question.type === 'draft') return {type: 'drafted', id, draft: await draft(model, question)}
    return {type: 'detected', id, guesses: await model.detectLanguage(question.samples, signal)}
  } catch (error) {
    return {type: 'failed', id, error: asRecord(error, failure)}
  }
}

function draft(model: SpeechModel, {stream, samples, options}: Extract<Question, {type: 'draft'}>): Promise<Draft> {
  const started = drafts.get(stream) ?? (model.draft?.(options) as DraftStream)
  drafts.set(stream, started)
  return started.push(samples)
}

function enqueue(model: SpeechModel, question: Question): void {
  const cancelled = new AbortController()
  running.set(question.id, cancelled)
  last = last.then(async () => {
    parent.postMessage(await answer(model, question, cancelled.signal))
    running.delete(question.id)
  })
}

const greet = (greeting: WorkerGreeting) => parent.postMessage(greeting)

try {
  const onProgress = (progress: QuantizeProgress) => parent.postMessage({type: 'progress', progress})
  const model = await openSpeechModel(path, {...options, onProgress})
  parent.on('message', async (message: WorkerRequest) => {
    if (message.type === 'cancel') running.get(message.id)?.abort(new SvcError('interrupted', {}))
    else if (message.type === 'end-draft') {
      await last
      drafts.get(message.stream)?.close()
      drafts.delete(message.stream)
    } else if (message.type !== 'close') enqueue(model, message)
    else {
      parent.close()
      for (const cancelled of running.values()) cancelled.abort(new SvcError('interrupted', {}))
      await last
      await model.release()
    }
  })
  greet({type: 'ready', description: model.description})
} catch (error) {
  greet({type: 'failed', error: asRecord(error, failure)})
  parent.unref()
}
