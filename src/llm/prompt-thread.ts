import {SvcError} from '../errors/index.js'
import {startThread} from '../process/index.js'
import {failure} from './failure.js'
import type {PromptAnswer, PromptQuestion, PromptThreadStart} from './prompt-worker.js'
import type {PlannedRequest, ReplyPlan} from './reply-planner.js'

/**
 * Encodes prompts with the model's tokenizer and chat template, and plans their replies, in a separate thread, one after the
 * other.
 */
export interface PromptThread {
  /**
   * The tokens of a prompt, and the plan of its reply.
   * @throws what `ReplyPlanner.plan` throws; the reason of the signal
   */
  plan(request: PlannedRequest, contextLength: number, signal: AbortSignal): Promise<ReplyPlan>
  readonly exited: Promise<void>
  close(): Promise<void>
}

/** @throws what `openRunDirectory` throws; the reason of the signal */
export async function startPromptThread(start: PromptThreadStart, signal?: AbortSignal): Promise<PromptThread> {
  const program = new URL('./prompt-worker.js', import.meta.url)
  const {worker, exited} = await startThread<undefined>(program, {data: start, failure, signal})
  const waiting = new Map<number, {resolve: (plan: ReplyPlan) => void; reject: (error: unknown) => void}>()
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
    async plan(request, contextLength, stop) {
      const id = ++last
      const cancelled = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
      const onAbort = () => {
        Atomics.store(new Int32Array(cancelled), 0, 1)
        waiting.get(id)?.reject(stop.reason)
        waiting.delete(id)
      }
      const planned = new Promise<ReplyPlan>((resolve, reject) => waiting.set(id, {resolve, reject}))
      stop.addEventListener('abort', onAbort, {once: true})
      worker.postMessage({id, request, contextLength, cancelled} satisfies PromptQuestion)
      try {
        return await planned
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
