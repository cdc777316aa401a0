import {SvcError} from '../errors/index.js'
import {startThread} from '../process/index.js'
import {failure} from './failure.js'
import type {EncodedPrompt, PromptAnswer, PromptQuestion, PromptThreadStart} from './prompt-worker.js'
import type {GenerateRequest} from './request.js'

/**
 * Encodes prompts with the model's tokenizer and chat template, and reads the formats of replies, in a separate thread, one
 * after the other.
 */
export interface PromptThread {
  /**
   * The tokens of a prompt, and the format of its reply.
   * @throws what `encodePrompt` and `formatGrammar` throw; the reason of the signal
   */
  encode(
    request: Pick<GenerateRequest, 'prompt' | 'format'>,
    contextLength: number,
    signal: AbortSignal,
  ): Promise<EncodedPrompt>
  readonly exited: Promise<void>
  close(): Promise<void>
}

/** @throws what `openRunDirectory` throws; the reason of the signal */
export async function startPromptThread(start: PromptThreadStart, signal?: AbortSignal): Promise<PromptThread> {
  const program = new URL('./prompt-worker.js', import.meta.url)
  const {worker, exited} = await startThread<undefined>(program, {data: start, failure, signal})
  const waiting = new Map<number, {resolve: (encoded: EncodedPrompt) => void; reject: (error: unknown) => void}>()
  let last = 0
  const rejectAll = (error: unknown) => {
    for (const {reject} of waiting.values()) reject(error)
    waiting.clear()
  }
  worker.on('error', (error) => rejectAll(failure(error.message)))
  worker.once('exit', () => rejectAll(failure('the tokenizer thread stopped')))
  worker.on('message', (answer: PromptAnswer) => {
    const {id, ...result} = answer
    const {resolve, reject} = waiting.get(id) ?? {}
    waiting.delete(id)
    if ('error' in result) reject?.(SvcError.fromRecord(result.error))
    else resolve?.(result)
  })
  return {
    async encode({prompt, format}, contextLength, stop) {
      const id = ++last
      const cancelled = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
      const onAbort = () => {
        Atomics.store(new Int32Array(cancelled), 0, 1)
        waiting.get(id)?.reject(stop.reason)
        waiting.delete(id)
      }
      const encoded = new Promise<EncodedPrompt>((resolve, reject) => waiting.set(id, {resolve, reject}))
      stop.addEventListener('abort', onAbort, {once: true})
      worker.postMessage({id, prompt, format, contextLength, cancelled} satisfies PromptQuestion)
      try {
        return await encoded
      } finally {
        stop.removeEventListener('abort', onAbort)
      }
    },
    exited,
    async close() {
      await worker.terminate()
      await exited
    },
  }
}
