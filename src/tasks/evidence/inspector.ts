import type {Worker} from 'node:worker_threads'
import {SvcError} from '../../errors/index.js'
import {startThread, ThreadCalls} from '../../process/index.js'
import type {BaselineFile, Inspected, Inspection} from './inspect.js'
import type {Answer, Question} from './thread.js'

interface Inspector {
  worker: Worker
  calls: ThreadCalls<Question, Answer>
}

const failure = (reason: string, cause?: unknown) => new SvcError('internal', {reason}, {cause})

/** The thread of this process, started on first use; it does not keep the process alive. */
let current: Promise<Inspector> | undefined

/** Inspects files in a thread. @throws internal if the thread fails; the reason of the signal */
export async function inspectFiles(inspection: Inspection, signal?: AbortSignal): Promise<Inspected> {
  const answer = await ask({inspection}, signal)
  if ('inspected' in answer) return answer.inspected
  throw failure('the inspection returned another answer')
}

/** Reads files in a thread before a task starts. @throws internal if the thread fails */
export async function baselineOf(root: string, paths: readonly string[]): Promise<BaselineFile[]> {
  const answer = await ask({root, paths})
  if ('baseline' in answer) return answer.baseline
  throw failure('the inspection returned another answer')
}

async function ask(question: Question, signal?: AbortSignal): Promise<Answer> {
  signal?.throwIfAborted()
  current ??= startInspector().catch((error: unknown) => {
    current = undefined
    throw error
  })
  const {worker, calls} = await current
  worker.ref()
  try {
    return await calls.ask(question, {signal})
  } finally {
    if (calls.count === 0) worker.unref()
  }
}

async function startInspector(): Promise<Inspector> {
  const program = new URL('./thread.js', import.meta.url)
  const {worker} = await startThread<undefined>(program, {data: undefined, failure})
  const calls = new ThreadCalls<Question, Answer>(worker, 'the thread that inspects files', failure)
  for (const event of ['error', 'exit'])
    worker.once(event, () => {
      current = undefined
    })
  worker.unref()
  return {worker, calls}
}
