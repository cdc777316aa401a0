/** Worker thread that encodes prompts to tokens. See `prompt-thread.ts`. */
import {parentPort, workerData} from 'node:worker_threads'
import {SvcError} from '../errors/index.js'
import {configureLog, type LogOptions, logger} from '../log/index.js'
import {asRecord, type Greeting, type ThreadAnswer} from '../process/index.js'
import {openRunDirectory, type RunLookup} from '../weights/index.js'
import {failure} from './failure.js'
import {GrammarReader, grammarOptions} from './grammar-reader.js'
import {readModelText} from './model-text.js'
import type {ArgumentTexts} from './reply/call-format.js'
import {type PlannedRequest, type ReplyPlan, ReplyPlanner} from './reply-planner.js'
import type {ToolUse} from './tools.js'

export interface PromptThreadStart {
  model: string
  options: Pick<RunLookup, 'base' | 'ignoreEvalGate' | 'baseOnly' | 'ignoreConfigKeys'> & {
    chatTemplate?: string | undefined
  }
  log: Omit<LogOptions, 'stream'> | undefined
}

/** What the worker does: plans a reply, counts the tokens of a prompt, or checks tools. */
export type PromptTask =
  | {task: 'plan' | 'count'; request: PlannedRequest; contextLength: number}
  | {task: 'check'; tools: ToolUse}

/** Message to the worker. `cancelled` is one Int32; the caller sets it to 1 to cancel the task. */
export type PromptQuestion = PromptTask & {cancelled: SharedArrayBuffer}

export type PromptAnswer = ReplyPlan | {count: number} | {texts: ArgumentTexts}

const {model, options, log} = workerData as PromptThreadStart
if (parentPort === null) throw new Error('prompt-worker.js runs in a worker thread.')
const parent = parentPort
if (log !== undefined) configureLog(log)

let isLogged = false

async function answer(
  planner: ReplyPlanner,
  hasTemplate: boolean,
  {id, ...question}: PromptQuestion & {id: number},
): Promise<ThreadAnswer<PromptAnswer>> {
  const flag = new Int32Array(question.cancelled)
  const check = () => {
    if (Atomics.load(flag, 0) !== 0) throw new SvcError('interrupted', {})
  }
  try {
    check()
    if (question.task === 'check') return {id, texts: await planner.check(question.tools, check)}
    const {task, request, contextLength} = question
    if (task === 'count') return {id, count: planner.count(request, contextLength, check)}
    const plan = await planner.plan(request, contextLength, check)
    if (request.prompt.kind === 'chat' && !hasTemplate && options.chatTemplate !== 'none' && !isLogged) {
      logger('llm').warn('The model has no chat template; messages are joined without role markers.')
      isLogged = true
    }
    return {id, ...plan}
  } catch (error) {
    return {id, error: asRecord(error, failure)}
  }
}

const greet = (greeting: Greeting<undefined>) => parent.postMessage(greeting)

try {
  const directory = await openRunDirectory(model, options)
  const text = await readModelText(directory, await directory.readConfig(), options.chatTemplate)
  const planner = new ReplyPlanner(text, new GrammarReader(grammarOptions(directory, text.tokenizer, text.ends)))
  const hasTemplate = text.template !== undefined
  parent.on('message', async (question: PromptQuestion & {id: number}) =>
    parent.postMessage(await answer(planner, hasTemplate, question)),
  )
  greet({type: 'ready', description: undefined})
} catch (error) {
  greet({type: 'failed', error: asRecord(error, failure)})
}
