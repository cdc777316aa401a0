/** Worker thread that encodes prompts to tokens. See `prompt-thread.ts`. */
import {parentPort, workerData} from 'node:worker_threads'
import {type ErrorRecord, SvcError} from '../errors/index.js'
import {configureLog, type LogOptions, logger} from '../log/index.js'
import {asRecord, type Greeting} from '../process/index.js'
import {openRunDirectory, type RunLookup} from '../weights/index.js'
import {failure} from './failure.js'
import {type ModelText, readModelText} from './model-text.js'
import {encodePrompt} from './prompt.js'
import type {Prompt} from './request.js'

export interface PromptThreadStart {
  model: string
  options: Pick<RunLookup, 'base' | 'ignoreEvalGate' | 'baseOnly' | 'ignoreConfigKeys'> & {
    chatTemplate?: string | undefined
  }
  log: Omit<LogOptions, 'stream'> | undefined
}

/** Message to the worker. */
export interface PromptQuestion {
  id: number
  prompt: Prompt
  contextLength: number
  /** One Int32; the caller sets it to 1 to cancel the request. */
  cancelled: SharedArrayBuffer
}

export type PromptAnswer = {id: number} & ({tokens: number[]} | {error: ErrorRecord})

const {model, options, log} = workerData as PromptThreadStart
if (parentPort === null) throw new Error('prompt-worker.js runs in a worker thread.')
const parent = parentPort
if (log !== undefined) configureLog(log)

let isLogged = false

function answer(
  {tokenizer, template}: ModelText,
  {id, prompt, contextLength, cancelled}: PromptQuestion,
): PromptAnswer {
  const flag = new Int32Array(cancelled)
  const check = () => {
    if (Atomics.load(flag, 0) !== 0) throw new SvcError('interrupted', {})
  }
  try {
    check()
    const tokens = encodePrompt({tokenizer, template, contextLength}, prompt, check)
    if (prompt.kind === 'chat' && template === undefined && options.chatTemplate !== 'none' && !isLogged) {
      logger('llm').warn('The model has no chat template; messages are joined without role markers.')
      isLogged = true
    }
    return {id, tokens}
  } catch (error) {
    return {id, error: asRecord(error, failure)}
  }
}

const greet = (greeting: Greeting<undefined>) => parent.postMessage(greeting)

try {
  const text = await readModelText(await openRunDirectory(model, options), options.chatTemplate)
  parent.on('message', (question: PromptQuestion) => parent.postMessage(answer(text, question)))
  greet({type: 'ready', description: undefined})
} catch (error) {
  greet({type: 'failed', error: asRecord(error, failure)})
}
