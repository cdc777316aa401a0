/** Worker thread that encodes prompts to tokens. See `prompt-thread.ts`. */
import {parentPort, workerData} from 'node:worker_threads'
import {type ErrorRecord, SvcError} from '../errors/index.js'
import type {ReplyFormat} from '../grammar/index.js'
import {configureLog, type LogOptions, logger} from '../log/index.js'
import {asRecord, type Greeting} from '../process/index.js'
import {openRunDirectory, type RunLookup, readJsonObject} from '../weights/index.js'
import {failure} from './failure.js'
import {FormatReader, formatOptions} from './format-reader.js'
import {type ModelText, readModelText} from './model-text.js'
import type {PreparedFormat} from './prepared-format.js'
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
  format: ReplyFormat | undefined
  contextLength: number
  /** One Int32; the caller sets it to 1 to cancel the request. */
  cancelled: SharedArrayBuffer
}

/** A prompt as tokens, and the format of its reply. */
export interface EncodedPrompt {
  tokens: number[]
  prepared?: PreparedFormat
}

export type PromptAnswer = {id: number} & (EncodedPrompt | {error: ErrorRecord})

const {model, options, log} = workerData as PromptThreadStart
if (parentPort === null) throw new Error('prompt-worker.js runs in a worker thread.')
const parent = parentPort
if (log !== undefined) configureLog(log)

let isLogged = false

async function answer(
  {tokenizer, template}: ModelText,
  formats: FormatReader,
  {id, prompt, format, contextLength, cancelled}: PromptQuestion,
): Promise<PromptAnswer> {
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
    return {id, tokens, ...(format === undefined ? {} : {prepared: await formats.read(format)})}
  } catch (error) {
    return {id, error: asRecord(error, failure)}
  }
}

const greet = (greeting: Greeting<undefined>) => parent.postMessage(greeting)

try {
  const directory = await openRunDirectory(model, options)
  const text = await readModelText(directory, await readJsonObject(directory.config), options.chatTemplate)
  const formats = new FormatReader(formatOptions(directory, text.tokenizer, text.ends))
  parent.on('message', async (question: PromptQuestion) => parent.postMessage(await answer(text, formats, question)))
  greet({type: 'ready', description: undefined})
} catch (error) {
  greet({type: 'failed', error: asRecord(error, failure)})
}
