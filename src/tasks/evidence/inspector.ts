import {SvcError} from '../../errors/index.js'
import {startThread, type Thread} from '../../process/index.js'
import type {BaselineFile, Inspected, Inspection} from './inspect.js'
import type {Answer, Question} from './thread.js'

interface Waiting {
  resolve(answer: Answer): void
  reject(error: unknown): void
}

interface Inspector {
  thread: Thread<undefined>
  waiting: Map<number, Waiting>
}

const failure = (reason: string, cause?: unknown) => new SvcError('internal', {reason}, {cause})

/** The thread of this process, started on first use; it does not keep the process alive. */
let current: Promise<Inspector> | undefined
let lastId = 0

/** Inspects files in a thread. @throws internal if the thread fails; the reason of the signal */
export async function inspectFiles(inspection: Inspection, signal?: AbortSignal): Promise<Inspected> {
  const answer = await ask((id) => ({id, inspection}), signal)
  if ('inspected' in answer) return answer.inspected
  throw errorOf(answer)
}

/** Reads files in a thread before a task starts. @throws internal if the thread fails */
export async function baselineOf(root: string, paths: readonly string[]): Promise<BaselineFile[]> {
  const answer = await ask((id) => ({id, root, paths}))
  if ('baseline' in answer) return answer.baseline
  throw errorOf(answer)
}

const errorOf = (answer: Answer): SvcError =>
  'error' in answer ? SvcError.fromRecord(answer.error) : failure('the inspection returned another answer')

async function ask(question: (id: number) => Question, signal?: AbortSignal): Promise<Answer> {
  signal?.throwIfAborted()
  current ??= startInspector().catch((error: unknown) => {
    current = undefined
    throw error
  })
  const {thread, waiting} = await current
  const id = ++lastId
  const onAbort = () => {
    waiting.get(id)?.reject(signal?.reason)
    waiting.delete(id)
  }
  signal?.addEventListener('abort', onAbort, {once: true})
  thread.worker.ref()
  try {
    return await new Promise<Answer>((resolve, reject) => {
      waiting.set(id, {resolve, reject})
      thread.worker.postMessage(question(id))
    })
  } finally {
    signal?.removeEventListener('abort', onAbort)
    if (waiting.size === 0) thread.worker.unref()
  }
}

async function startInspector(): Promise<Inspector> {
  const waiting = new Map<number, Waiting>()
  const thread = await startThread<undefined>(new URL('./thread.js', import.meta.url), {data: undefined, failure})
  const end = (error: unknown) => {
    current = undefined
    for (const {reject} of waiting.values()) reject(error)
    waiting.clear()
  }
  thread.worker.on('error', (error) => end(failure(error.message, error)))
  thread.worker.once('exit', () => end(failure('the thread that inspects files stopped')))
  thread.worker.on('message', (answer: Answer) => {
    waiting.get(answer.id)?.resolve(answer)
    waiting.delete(answer.id)
  })
  thread.worker.unref()
  return {thread, waiting}
}
