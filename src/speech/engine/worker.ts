/** Worker thread of the speech engine: opens one model and recognises windows until it is closed. See `engine.ts`. */
import {parentPort, workerData} from 'node:worker_threads'
import {SvcError} from '../../errors/index.js'
import {configureLog, type LogOptions} from '../../log/index.js'
import {asRecord, endOnRequest, type Greeting, type ThreadAnswer} from '../../process/index.js'
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

/** Questions to the worker, which are answered in order. */
export type WorkerQuestion =
  | {type: 'recognise'; samples: Float32Array; options: RecognitionOptions}
  | {type: 'recognise-all'; samples: readonly Float32Array[]; options: RecognitionOptions}
  | {type: 'detect-language'; samples: Float32Array}
  /** The caller chooses `stream`; the first question of a stream starts it with `options`. */
  | {type: 'draft'; stream: number; samples: Float32Array; options: RecognitionOptions}

/** Messages to the worker. */
export type WorkerRequest =
  | (WorkerQuestion & {id: number})
  | {type: 'end-draft'; stream: number}
  | {type: 'cancel'; id: number}
  | {type: 'close'}

export type WorkerAnswer =
  | {type: 'recognised'; result: WindowResult}
  | {type: 'recognised-all'; results: WindowResult[]}
  | {type: 'detected'; guesses: LanguageGuess[]}
  | {type: 'drafted'; draft: Draft}

const {path, options, log} = workerData as WorkerStart
if (parentPort === null) throw new Error('worker.js runs in a worker thread.')
const parent = parentPort
endOnRequest(parent)
if (log !== undefined) configureLog(log)

const drafts = new Map<number, DraftStream>()

const running = new Map<number, AbortController>()
/** Requests run one at a time. */
let last: Promise<void> = Promise.resolve()

async function answer(model: SpeechModel, question: WorkerQuestion, signal: AbortSignal): Promise<WorkerAnswer> {
  signal.throwIfAborted()
  if (question.type === 'recognise')
    return {type: 'recognised', result: await model.recognise(question.samples, question.options, signal)}
  if (question.type === 'recognise-all') {
    const recognise = model.recogniseAll as NonNullable<SpeechModel['recogniseAll']>
    return {type: 'recognised-all', results: await recognise(question.samples, question.options, signal)}
  }
  if (question.type === 'draft') return {type: 'drafted', draft: await draft(model, question)}
  return {type: 'detected', guesses: await model.detectLanguage(question.samples, signal)}
}

function draft(
  model: SpeechModel,
  {stream, samples, options}: Extract<WorkerQuestion, {type: 'draft'}>,
): Promise<Draft> {
  const started = drafts.get(stream) ?? (model.draft?.(options) as DraftStream)
  drafts.set(stream, started)
  return started.push(samples)
}

function enqueue(model: SpeechModel, {id, ...question}: WorkerQuestion & {id: number}): void {
  const cancelled = new AbortController()
  running.set(id, cancelled)
  last = last.then(async () => {
    const reply: ThreadAnswer<WorkerAnswer> = await answer(model, question, cancelled.signal).then(
      (result) => ({id, ...result}),
      (error: unknown) => ({id, error: asRecord(error, failure)}),
    )
    parent.postMessage(reply)
    running.delete(id)
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
