import {SvcError} from '../../errors/index.js'
import type {LogOptions} from '../../log/index.js'
import {startThread, ThreadCalls} from '../../process/index.js'
import type {QuantizeProgress} from '../../weights/index.js'
import type {SpeechModel, SpeechModelDescription} from '../model/model.js'
import {failure} from './failure.js'
import type {OpenSpeechModelOptions} from './open-model.js'
import type {WorkerAnswer, WorkerQuestion, WorkerRequest, WorkerStart} from './worker.js'

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
  const calls = new ThreadCalls<WorkerQuestion, WorkerAnswer>(worker, 'the engine', failure)
  const cancel = (id: number) => worker.postMessage({type: 'cancel', id} satisfies WorkerRequest)
  const ask = (question: WorkerQuestion, signal?: AbortSignal) =>
    calls.ask(question, {signal, cancel, transfer: [question.samples].flat().flatMap(ownBuffer)})
  let streams = 0
  return {
    description,
    loadMs,
    async recognise(samples, recognition, cancelled) {
      const answer = await ask({type: 'recognise', samples, options: recognition}, cancelled)
      return (answer as Extract<WorkerAnswer, {type: 'recognised'}>).result
    },
    ...(description.batch > 0
      ? {
          async recogniseAll(windows, recognition, cancelled) {
            const question = {type: 'recognise-all', samples: windows, options: recognition} as const
            const answer = await ask(question, cancelled)
            return (answer as Extract<WorkerAnswer, {type: 'recognised-all'}>).results
          },
        }
      : {}),
    async detectLanguage(samples, cancelled) {
      const answer = await ask({type: 'detect-language', samples}, cancelled)
      return (answer as Extract<WorkerAnswer, {type: 'detected'}>).guesses
    },
    ...(description.drafts === 'stream'
      ? {
          draft(recognition) {
            const stream = streams++
            return {
              async push(samples) {
                const answer = await ask({type: 'draft', stream, samples, options: recognition})
                return (answer as Extract<WorkerAnswer, {type: 'drafted'}>).draft
              },
              close: () => worker.postMessage({type: 'end-draft', stream} satisfies WorkerRequest),
            }
          },
        }
      : {}),
    async release() {
      calls.end(new SvcError('interrupted', {}))
      worker.postMessage({type: 'close'} satisfies WorkerRequest)
      await exited
    },
  }
}

/** Buffers that are transferred to the worker instead of being copied. */
const ownBuffer = ({buffer, byteLength}: Float32Array): ArrayBuffer[] =>
  buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []
