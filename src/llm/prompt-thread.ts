import {startThread, ThreadCalls} from '../process/index.js'
import {failure} from './failure.js'
import type {PromptAnswer, PromptQuestion, PromptTask, PromptThreadStart} from './prompt-worker.js'
import type {ArgumentTexts} from './reply/call-format.js'
import type {PlannedRequest, ReplyPlan} from './reply-planner.js'
import type {ToolUse} from './tools.js'

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
  /** Checks tools. @throws what `ReplyPlanner.check` throws; the reason of the signal */
  check(tools: ToolUse, signal: AbortSignal): Promise<ArgumentTexts>
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
  const ask = (question: PromptTask, signal: AbortSignal) => {
    const cancelled = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
    const cancel = () => void Atomics.store(new Int32Array(cancelled), 0, 1)
    return calls.ask({...question, cancelled}, {signal, cancel})
  }
  return {
    plan: async (request, contextLength, signal) =>
      (await ask({task: 'plan', request, contextLength}, signal)) as ReplyPlan,
    async check(tools, signal) {
      const {texts} = (await ask({task: 'check', tools}, signal)) as {texts: ArgumentTexts}
      return texts
    },
    async count(request, contextLength, signal) {
      const {count} = (await ask({task: 'count', request, contextLength}, signal)) as {count: number}
      return count
    },
    exited,
    async close() {
      await worker.terminate()
      await exited
    },
  }
}
