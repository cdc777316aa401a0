import type {Worker} from 'node:worker_threads'
import {SvcError} from '../../errors/index.js'
import type {LogOptions} from '../../log/index.js'
import {startThread} from '../../process/index.js'
import type {QuantizeProgress} from '../../weights/index.js'
import type {SpeechModel, SpeechModelDescription} from '../model/model.js'
import {failure} from './failure.js'
import type {OpenSpeechModelOptions} from './open-model.js'
import type {WorkerAnswer, WorkerRequest, WorkerStart} from './worker.js'

export interface SpeechEngineOptions extends OpenSpeechModelOptions {
  /** Log options of the worker; the same as those of the calling thread. */
  log?: Omit<LogOptions, 'stream'>
  signal?: AbortSignal | undefined
}

/**
 * Heap limits of the worker, MB. Tensors are outside of the heap, which contains little more than the tokenizer. A
 * small heap is collected often, which frees the buffers that each decoding step leaves behind.
 */
const resourceLimits = {maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 256}

/**
 * A speech model in a worker thread; the calling thread stays responsive. Samples that fill their buffer are
 * transferred and are empty afterwards, which saves memory.
 */
export interface SpeechEngine extends SpeechModel {
  /** Time from the start of the thread until the model is ready, ms. */
  readonly loadMs: number
}

type Question = WorkerRequest extends infer R
  ? R extends {samples: Float32Array | readonly Float32Array[]}
    ? Omit<R, 'id'>
    : never
  : never

/**
 * Starts a worker thread and opens a speech model in it.
 * @param path a model directory or file
 * @throws what `openSpeechModel` throws; the reason of the signal
 */
export async function startSpeechEngine(
  path: string,
  {log, signal, onProgress, ...options}: SpeechEngineOptions,
): Promise<SpeechEngine> {
  const start: WorkerStart = {path, options, log}
  const program = new URL('./worker.js', import.meta.url)
  const {worker, description, loadMs, exited} = await startThread<SpeechModelDescription, QuantizeProgress>(program, {
    data: start,
    failure,
    resourceLimits,
    signal,
    endsOnRequest: true,
    onProgress,
  })
  const requests = new Requests(worker)
  let streams = 0
  return {
    description,
    loadMs,
    async recognise(samples, recognition, cancelled) {
      const answer = await requests.ask({type: 'recognise', samples, options: recognition}, cancelled)
      return (answer as Extract<WorkerAnswer, {type: 'recognised'}>).result
    },
    ...(description.batch > 0
      ? {
          async recogniseAll(windows, recognition, cancelled) {
            const question = {type: 'recognise-all', samples: windows, options: recognition} as const
            const answer = await requests.ask(question, cancelled)
            return (answer as Extract<WorkerAnswer, {type: 'recognised-all'}>).results
          },
        }
      : {}),
    async detectLanguage(samples, cancelled) {
      const answer = await requests.ask({type: 'detect-language', samples}, cancelled)
      return (answer as Extract<WorkerAnswer, {type: 'detected'}>).guesses
    },
    ...(description.drafts === 'stream'
      ? {
          draft(recognition) {
            const stream = streams++
            return {
              async push(samples) {
                const answer = await requests.ask({type: 'draft', stream, samples, options: recognition}, undefined)
                return (answer as Extract<WorkerAnswer, {type: 'drafted'}>).draft
              },
              close: () => worker.postMessage({type: 'end-draft', stream} satisfies WorkerRequest),
            }
          },
        }
      : {}),
    async release() {
      requests.end(new SvcError('interrupted', {}))
      worker.postMessage({type: 'close'} satisfies WorkerRequest)
      await exited
    },
  }
}

/** Buffers that are transferred to the worker instead of being copied. */
const handedOver = ({buffer, byteLength}: Float32Array): ArrayBuffer[] =>
  buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []

interface Waiting {
  resolve(answer: WorkerAnswer): void
  reject(error: unknown): void
}

/** Requests that the worker has not answered yet. */
class Requests {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  #next = 0
  #ended: unknown

  constructor(worker: Worker) {
    this.#worker = worker
    worker.on('message', (answer: WorkerAnswer) => this.#settle(answer))
    worker.on('error', (error) => this.end(failure(error.message)))
    worker.once('exit', () => this.end(failure('the engine stopped')))
  }

  /** @throws the reason of the signal, without waiting for the worker to notice */
  async ask(question: Question, signal: AbortSignal | undefined): Promise<WorkerAnswer> {
    signal?.throwIfAborted()
    if (this.#ended !== undefined) throw this.#ended
    const id = this.#next++
    const cancel = () => {
      this.#worker.postMessage({type: 'cancel', id} satisfies WorkerRequest)
      this.#waiting.get(id)?.reject(signal?.reason)
    }
    signal?.addEventListener('abort', cancel, {once: true})
    try {
      return await new Promise<WorkerAnswer>((resolve, reject) => {
        this.#waiting.set(id, {resolve, reject})
        this.#worker.postMessage({...question, id} as WorkerRequest, [question.samples].flat().flatMap(handedOver))
      })
    } finally {
      this.#waiting.delete(id)
      signal?.removeEventListener('abort', cancel)
    }
  }

  end(reason: unknown): void {
    this.#ended ??= reason
    for (const {reject} of this.#waiting.values()) reject(this.#ended)
  }

  #settle(answer: WorkerAnswer): void {
    const waiting = this.#waiting.get(answer.id)
    if (answer.type === 'failed') waiting?.reject(SvcError.fromRecord(answer.error))
    else waiting?.resolve(answer)
  }
}
