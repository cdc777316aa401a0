import {setMaxListeners} from 'node:events'
import {MessageChannel, type Worker} from 'node:worker_threads'
import {SvcError} from '../errors/index.js'
import type {LogOptions} from '../log/index.js'
import {startThread} from '../process/index.js'
import {holdModel, type QuantizeProgress} from '../weights/index.js'
import type {ResidentAdapter} from './adapters/resident-adapters.js'
import {type CounterName, EngineCounters} from './counters.js'
import {EventQueue} from './event-queue.js'
import {failure} from './failure.js'
import type {LoadOptions} from './load-options.js'
import type {ModelDescription} from './model-description.js'
import {maxPromptBytes, withinBytes} from './prompt.js'
import {type PromptThread, startPromptThread} from './prompt-thread.js'
import {readEvents} from './reply/read-events.js'
import type {PlannedRequest} from './reply-planner.js'
import type {GenerateEvent, GenerateRequest, TokenRequest} from './request.js'
import type {WorkerAnswer, WorkerNotice, WorkerRequest, WorkerStart} from './worker.js'

export interface EngineOptions extends LoadOptions {
  /** Logging options of the worker, as in the calling thread. */
  log?: Omit<LogOptions, 'stream'>
  signal?: AbortSignal | undefined
}

/**
 * A model in a worker thread, so that its computation does not block the caller. Prompts are tokenized in another thread,
 * so that long prompts do not delay running generations.
 */
export interface Engine {
  readonly description: ModelDescription
  /** Time from the start of the thread until the model is ready, ms. */
  readonly loadMs: number
  counters(): Record<CounterName, number>
  /** The adapters in memory. */
  adapters(): readonly ResidentAdapter[]
  /** Frees the memory of the adapter with a key when no request uses it any more. */
  forgetAdapter(key: string): Promise<void>
  /** See `LanguageModel.generate`. Leaving the loop early cancels the request. */
  generate(request: GenerateRequest, signal?: AbortSignal): AsyncGenerator<GenerateEvent, void, undefined>
  /** Number of tokens of the prompt of a request. @throws what `encodePrompt` throws */
  countTokens(request: GenerateRequest, signal?: AbortSignal): Promise<number>
  /** Cancels running requests and frees the model. */
  close(): Promise<void>
}

/**
 * Starts a worker thread with a model and another one with its tokenizer.
 * @throws what `loadLanguageModel` throws; the reason of the signal
 */
export async function startEngine(model: string, options: EngineOptions): Promise<Engine> {
  const release = await holdModel(model, options)
  try {
    return await startThreads(model, options, release)
  } catch (error) {
    release()
    throw error
  }
}

/** @param release called when the engine is closed */
async function startThreads(
  model: string,
  {log, signal, onProgress, ...options}: EngineOptions,
  release: () => void,
): Promise<Engine> {
  const counters = new EngineCounters()
  const start: WorkerStart = {model, options, log, counters: counters.memory}
  const program = new URL('./worker.js', import.meta.url)
  const prompts = startPromptThread({model, options, log}, signal)
  // Errors of the model are reported by the thread that loads all of it.
  prompts.catch(() => undefined)
  const {worker, description, loadMs, exited} = await startThread<ModelDescription, QuantizeProgress>(program, {
    data: start,
    failure,
    signal,
    endsOnRequest: true,
    onProgress,
  }).catch(async (error) => {
    await prompts.then((thread) => thread.close()).catch(() => undefined)
    throw error
  })
  let resident: readonly ResidentAdapter[] = []
  worker.on('message', (notice: WorkerNotice) => {
    resident = notice.resident
  })
  const ended = new AbortController()
  // Every running request adds a listener.
  setMaxListeners(0, ended.signal)
  worker.on('error', (error) => ended.abort(failure(error.message)))
  worker.once('exit', () => ended.abort(failure('the engine stopped')))
  const close = async () => {
    worker.postMessage({type: 'close'} satisfies WorkerRequest)
    await exited
  }
  const encoder = await prompts.catch(async (error) => {
    await close()
    throw error
  })
  void encoder.exited.then(() => ended.abort(failure('the tokenizer thread stopped')))
  return {
    description,
    loadMs,
    counters: () => counters.snapshot(),
    adapters: () => resident,
    async forgetAdapter(adapter) {
      // The thread answers each request with a notice.
      const answered = new Promise((resolve) => worker.once('message', resolve))
      worker.postMessage({type: 'forget', adapter} satisfies WorkerRequest)
      await Promise.race([answered, exited])
    },
    generate: (request, requestSignal) =>
      generate({worker, encoder, description}, request, ended.signal, requestSignal),
    async countTokens(request, requestSignal) {
      const {planned, contextLength} = plannedOf(request, description)
      return encoder.count(planned, contextLength, stopOf(ended.signal, requestSignal))
    },
    async close() {
      ended.abort(new SvcError('interrupted', {}))
      await Promise.all([close(), encoder.close()])
      release()
    },
  }
}

interface Threads {
  worker: Worker
  encoder: PromptThread
  description: ModelDescription
}

async function* generate(
  {worker, encoder, description}: Threads,
  request: GenerateRequest,
  ended: AbortSignal,
  signal: AbortSignal | undefined,
): AsyncGenerator<GenerateEvent, void, undefined> {
  const stop = stopOf(ended, signal)
  const {planned, others, contextLength} = plannedOf(request, description)
  const {tokens, layout, ...prepared} = await encoder.plan(planned, contextLength, stop)
  // The schemas of many tools take longer to check than a grammar of their names.
  const checked = planned.tools && encoder.check(planned.tools, stop)
  checked?.catch(() => undefined)
  const tokenRequest: TokenRequest = {...others, ...prepared}
  const {port1: port, port2} = new MessageChannel()
  const queue = new EventQueue<GenerateEvent>(stop)
  port.on('message', (answer: WorkerAnswer) => {
    if (answer.type === 'failed') queue.fail(SvcError.fromRecord(answer.error))
    else queue.push(answer)
  })
  worker.postMessage({type: 'generate', prompt: tokens, request: tokenRequest, port: port2} satisfies WorkerRequest, [
    port2,
  ])
  try {
    yield* readEvents(queue, layout, checked)
  } finally {
    port.postMessage('cancel')
    port.close()
  }
}

/** Aborts with the engine or the request. @throws the reason if it is aborted */
function stopOf(ended: AbortSignal, signal: AbortSignal | undefined): AbortSignal {
  const stop = signal === undefined ? ended : AbortSignal.any([signal, ended])
  stop.throwIfAborted()
  return stop
}

/** The parts of a request for the thread of prompts, and the others. @throws prompt_too_long */
function plannedOf(
  {prompt, format, tools, thinking, ...others}: GenerateRequest,
  {longestToken, contextLength: maxContext}: ModelDescription,
) {
  const contextLength = Math.min(maxContext, others.contextLength ?? maxContext)
  const planned: PlannedRequest = {
    // Reject a prompt with too many bytes before it is copied to the other thread.
    prompt: withinBytes(prompt, maxPromptBytes(longestToken, contextLength), contextLength),
    stop: others.stop,
    ...(format === undefined ? {} : {format}),
    ...(tools === undefined ? {} : {tools}),
    ...(thinking === undefined ? {} : {thinking}),
  }
  return {planned, others, contextLength}
}

/**
 * Describes a model without loading its weights, in a thread of its own: large tokenizers take long to read.
 * @throws what `readModelFiles` throws
 */
export async function describeModelFiles(
  model: string,
  {onProgress: _, ...options}: LoadOptions,
): Promise<ModelDescription> {
  const program = new URL('./describe-worker.js', import.meta.url)
  const {description, exited} = await startThread<ModelDescription>(program, {data: {model, options}, failure})
  await exited
  return description
}
