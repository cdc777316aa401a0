import {SvcError} from '../errors/index.js'
import {startThread} from '../process/index.js'
import {failure} from './failure.js'
import type {PromptAnswer, PromptQuestion, PromptThreadStart} from './prompt-worker.js'
import type {Prompt} from './request.js'

/** Encodes prompts with the model's tokenizer and chat template in a separate thread, one after the other. */
export interface PromptThread {
  /** The tokens of a prompt. @throws what `encodePrompt` throws; the reason of the signal */
  encode(prompt: Prompt, contextLength: number, signal: AbortSignal): Promise<number[]>
  readonly exited: Promise<void>
  close(): Promise<void>
}

/** @throws what `openRunDirectory` throws; the reason of the signal */
export async function startPromptThread(start: PromptThreadStart, signal?: AbortSignal): Promise<PromptThread> {
  const program = new URL('./prompt-worker.js', import.meta.url)
  const {worker, exited} = await startThread<undefined>(program, {data: start, failure, signal})
  const waiting = new Map<number, {resolve: (tokens: number[]) => void; reject: (error: unknown) => void}>()
  let last = 0
  const rejectAll = (error: unknown) => {
    for (const {reject} of waiting.values()) reject(error)
    waiting.clear()
  }
  worker.on('error', (error) => rejectAll(failure(error.message)))
  worker.once('exit', () => rejectAll(failure('the tokenizer thread stopped')))
  worker.on('message', (answer: PromptAnswer) => {
    const {resolve, reject} = waiting.get(answer.id) ?? {}
    waiting.delete(answer.id)
    if ('error' in answer) reject?.(SvcError.fromRecord(answer.error))
    else resolve?.(answer.tokens)
  })
  return {
    async encode(prompt, contextLength, stop) {
      const id = ++last
      const cancelled = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
      const onAbort = () => {
        Atomics.store(new Int32Array(cancelled), 0, 1)
        waiting.get(id)?.reject(stop.reason)
        waiting.delete(id)
      }
      const tokens = new Promise<number[]>((resolve, reject) => waiting.set(id, {resolve, reject}))
      stop.addEventListener('abort', onAbort, {once: true})
      worker.postMessage({id, prompt, contextLength, cancelled} satisfies PromptQuestion)
      try {
        return await tokens
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
