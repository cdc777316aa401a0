import {on, once} from 'node:events'
import {MessageChannel, type MessagePort, Worker} from 'node:worker_threads'
import {type ErrorRecord, SvcError} from '../errors/index.js'
import type {LogOptions} from '../log/index.js'
import type {GenerateEvent, GenerateRequest} from './generation.js'
import type {LoadOptions} from './language-model.js'

export interface EngineOptions extends LoadOptions {
  /** How the worker logs; as the calling thread does. */
  log?: Omit<LogOptions, 'stream'>
  signal?: AbortSignal | undefined
}

/** A model in a thread of its own: the calling thread stays free while it computes. */
export interface Engine {
  readonly name: string
  readonly contextLength: number
  /** See `LanguageModel.generate`. Leaving the loop early cancels the request. */
  generate(request: GenerateRequest, signal?: AbortSignal): AsyncGenerator<GenerateEvent, void, undefined>
  /** Cancels what runs and frees the model. */
  close(): Promise<void>
}

/** What the worker is started with. */
export interface WorkerStart {
  model: string
  options: LoadOptions
  log: EngineOptions['log']
}

/** What the worker says first. */
export type WorkerGreeting = {type: 'ready'; name: string; contextLength: number} | {type: 'failed'; error: ErrorRecord}

/** What the worker is asked; each request has a port of its own for its answers. */
export type WorkerRequest = {type: 'generate'; request: GenerateRequest; port: MessagePort} | {type: 'close'}

/** What comes back on the port of a request. Any message to the port cancels the request. */
export type WorkerAnswer = GenerateEvent | {type: 'failed'; error: ErrorRecord}

/**
 * Starts a worker thread and loads a model in it.
 * @throws what `loadLanguageModel` throws; the reason of the signal
 */
export async function startEngine(model: string, {log, signal, threads, numCtx}: EngineOptions): Promise<Engine> {
  const start: WorkerStart = {model, options: {threads, numCtx}, log}
  const worker = new Worker(new URL('./worker.js', import.meta.url), {workerData: start})
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const greeting = await greet(worker, signal)
  if (greeting.type === 'failed') {
    await exited
    throw SvcError.fromRecord(greeting.error)
  }
  const running = new Set<AbortController>()
  return {
    name: greeting.name,
    contextLength: greeting.contextLength,
    generate: (request, requestSignal) => generate(worker, request, running, requestSignal),
    async close() {
      for (const request of running) request.abort(new SvcError('interrupted', {}))
      worker.postMessage({type: 'close'} satisfies WorkerRequest)
      await exited
    },
  }
}

async function greet(worker: Worker, signal: AbortSignal | undefined): Promise<WorkerGreeting> {
  try {
    const [greeting] = await once(worker, 'message', {signal})
    return greeting
  } catch (error) {
    worker.unref()
    void worker.terminate()
    throw signal?.aborted ? signal.reason : new SvcError('generation_failed', {reason: (error as Error).message})
  }
}

async function* generate(
  worker: Worker,
  request: GenerateRequest,
  running: Set<AbortController>,
  signal: AbortSignal | undefined,
): AsyncGenerator<GenerateEvent, void, undefined> {
  const closing = new AbortController()
  running.add(closing)
  const {port1: port, port2} = new MessageChannel()
  const stop = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal])
  worker.postMessage({type: 'generate', request, port: port2} satisfies WorkerRequest, [port2])
  try {
    for await (const [answer] of on(port, 'message', {signal: stop, close: ['close']})) {
      const event = answer as WorkerAnswer
      if (event.type === 'failed') throw SvcError.fromRecord(event.error)
      yield event
      if (event.type === 'done') return
    }
    throw new SvcError('generation_failed', {reason: 'the engine stopped'})
  } catch (error) {
    throw stop.aborted ? stop.reason : error
  } finally {
    running.delete(closing)
    port.postMessage('cancel')
    port.close()
  }
}
