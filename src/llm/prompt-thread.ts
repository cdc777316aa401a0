import {startThread, ThreadCalls} from '../process/index.js'
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
  /** Number of tokens of a prompt. @throws what `ReplyPlanner.count` throws; the reason of the signal */
  count(request: PlannedRequest, contextLength: number, signal: AbortSignal): Promise<number>
  readonly exited: Promise<void>
  close(): Promise<void>
}

/** @throws what `openRunDirectory` throws; the reason of the signal */
export async function startPromptThread(start: PromptThreadStart, signal?: AbortSignal): Promise<PromptThread> {
  const program = new URL('./prompt-worker.js', import.meta.url)
  const {worker, exited} = await startThread<undefined>(program, {data: start, failure, signal})
  const calls = new ThreadCalls<PromptQuestion, PromptAnswer>(worker, 'the tokenizer thread', failure)
  const ask = (question: Omit<PromptQuestion, 'cancelled'>, signal: AbortSignal) => {
    const cancelled = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
    const cancel = () => void Atomics.store(new Int32Array(cancelled), 0, 1)
    return calls.ask({...question, cancelled}, {signal, cancel})
  }
  return {
    plan: async (request, contextLength, signal) =>
      (await ask({request, counts: false, contextLength}, signal)) as ReplyPlan,
    async count(request, contextLength, signal) {
      const {count} = (await ask({request, counts: true, contextLength}, signal)) as {count: number}
      return count
    },
    exited,
    async close() {
      await worker.terminate()
      await exited
    },
  }
}
