import {on} from 'node:events'
import module from 'node:module'
import {dirname} from 'node:path'
import {type MessagePort, type ResourceLimits, Worker} from 'node:worker_threads'
import {type ErrorRecord, SvcError} from '../errors/index.js'
import {setRuntimeEnvironment} from './runtime-environment.js'

/** First message of a thread, apart from messages `{type: 'progress', progress}` about its start. */
export type Greeting<D> = {type: 'ready'; description: D} | {type: 'failed'; error: ErrorRecord}

/** Creates the error for failures without a catalogue error of their own. */
export type Failure = (reason: string, cause?: unknown) => SvcError

export interface ThreadOptions<P = never> {
  /** `workerData` of the thread. */
  data: unknown
  failure: Failure
  resourceLimits?: ResourceLimits
  signal?: AbortSignal | undefined
  /**
   * The thread calls `endOnRequest`: it is asked to end instead of being terminated. Native code that is running when its
   * thread is terminated can abort the whole process, as onnxruntime-node does.
   */
  endsOnRequest?: boolean
  /** Called for each message about the progress of the start. */
  onProgress?: ((progress: P) => void) | undefined
}

export interface Thread<D> {
  readonly worker: Worker
  readonly description: D
  /** Time from the start to the first message, ms. */
  readonly loadMs: number
  readonly exited: Promise<void>
}

/**
 * Starts a thread and waits for its first message.
 * @throws the error that the thread reports; the reason of the signal
 */
export async function startThread<D, P = never>(
  program: URL,
  {data, failure, resourceLimits, signal, endsOnRequest = false, onProgress}: ThreadOptions<P>,
): Promise<Thread<D>> {
  const started = performance.now()
  setRuntimeEnvironment()
  const worker = new Worker(program, {
    workerData: data,
    env: threadEnvironment(),
    ...(resourceLimits === undefined ? {} : {resourceLimits}),
  })
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const greeting = await greetingOf<D, P>(worker, failure, signal, onProgress).catch(async (error: unknown) => {
    // Errors of a thread that is being stopped are not reported.
    worker.on('error', () => undefined)
    if (endsOnRequest) {
      worker.postMessage(endRequest)
      // Until then, the end of this process would terminate the thread, too.
      await exited
    } else {
      worker.unref()
      void worker.terminate()
    }
    throw error
  })
  if (greeting.type === 'failed') {
    await exited
    throw SvcError.fromRecord(greeting.error)
  }
  return {worker, description: greeting.description, loadMs: performance.now() - started, exited}
}

/** Exists since Node 22.1; the installed types are those of Node 20. */
const {getCompileCacheDir} = module as {getCompileCacheDir?: () => string | undefined}

/** The variables of this thread, with the compile cache if this process has switched it on: Node starts threads without. */
function threadEnvironment(): NodeJS.ProcessEnv {
  // A folder for this version of Node, in that of the cache.
  const folder = getCompileCacheDir?.()
  return folder === undefined ? process.env : {NODE_COMPILE_CACHE: dirname(folder), ...process.env}
}

async function greetingOf<D, P>(
  worker: Worker,
  failure: Failure,
  signal: AbortSignal | undefined,
  onProgress: ThreadOptions<P>['onProgress'],
): Promise<Greeting<D>> {
  try {
    for await (const [message] of on(worker, 'message', {signal})) {
      if (message.type !== 'progress') return message
      onProgress?.(message.progress)
      signal?.throwIfAborted()
    }
    throw new Error('it ended')
  } catch (error) {
    throw signal?.aborted ? signal.reason : failure((error as Error).message)
  }
}

/** Message to a thread whose start is not wanted any more. */
const endRequest = 'end'

/**
 * Lets the caller end this thread while it starts: between two events, so not within a call of native code. A thread whose
 * start fails unrefs the port.
 */
export function endOnRequest(parent: MessagePort): void {
  parent.on('message', (message) => {
    if (message === endRequest) process.exit()
  })
}

/** Converts an error of a thread for sending it to the main thread. */
export function asRecord(error: unknown, failure: Failure): ErrorRecord {
  if (error instanceof SvcError) return error.toRecord()
  return failure((error as Error).message.replace(/\.$/, ''), error).toRecord()
}
