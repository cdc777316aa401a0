import {SvcError} from '../../errors/index.js'
import type {Generation} from '../../inference-client/index.js'
import {type Model, type Question, withModel} from '../ask-model.js'
import type {Assistant} from '../assistant.js'
import {type AssistantTools, type UsedTool, withTools} from '../tool-rounds.js'
import {readContextFiles} from './context-files.js'
import {appendExchange, readTurns, type Turn} from './conversations.js'
import {type Journey, traceOf} from './journey.js'
import {type JsonFault, readJsonAnswer} from './json-answer.js'
import {jsonAgain, messagesFor, recent} from './messages.js'
import {profileOf} from './profile.js'
import type {MessageRequest} from './request.js'

export interface MessageAnswer {
  message: Omit<Turn, 'journey'> & {role: 'assistant'; model_used: string; tokens: number; context_files: string[]}
  /** The part of the history sent to the model, and this exchange. */
  history: Pick<Turn, 'role' | 'content'>[]
  model_used: string
  tokens: number
  session_id: string
  journey: Journey
  /** The tools that the model called; absent if it had none. */
  tools_used?: UsedTool[]
}

/** Cancellation and progress of a call. */
export interface Hooks {
  signal: AbortSignal
  /** Receives each piece of the answer as it arrives; not called for JSON, which is only validated at its end. */
  onDelta?: (text: string) => void
  /** Tools that the model may call. */
  tools?: AssistantTools | undefined
}

/**
 * Answers a message with a model, in the conversation of the session. Both turns are stored once the answer is
 * complete; neither is stored if it fails.
 * @throws path_denied, context_file_missing, context_file_unusable; answer_empty, answer_not_json; errors of the model
 *   call; the abort reason of the signal
 */
export async function sendMessage(
  assistant: Assistant,
  request: MessageRequest,
  journey: Journey,
  {signal, onDelta, tools}: Hooks,
): Promise<MessageAnswer> {
  const {jsonMode = false, attachmentManifest: attachments} = request
  const {session_id: sessionId, journey_id: journeyId} = journey
  const files = await readContextFiles(assistant.root, request.contextFiles ?? [])
  const contextFiles = files.map(({path}) => path)
  const profile = profileOf(journey)
  const {complexity, economy, maxTokens = Number.POSITIVE_INFINITY} = profile
  const question: Question = {
    messages: messagesFor(request, files, readTurns(assistant, sessionId), profile),
    temperature: request.temperature ?? profile.temperature,
    topP: request.topP,
    maxTokens: Math.min(maxTokens, assistant.endpoint.maxTokens),
  }
  const work = {
    surface: 'chat_message',
    category: 'general',
    complexity,
    economy,
    journeyId,
    sessionId,
    traceId: traceOf(journey),
  } as const
  const used: UsedTool[] = []
  return withModel(assistant, work, signal, async (plain) => {
    const model = tools === undefined ? plain : withTools(plain, tools, used)
    const said = await (jsonMode ? askForJson(model, question) : askForText(model, question, onDelta))
    const {text: answer, outputTokens: tokens, cutOff: isCutOff} = said
    signal.throwIfAborted()
    const turns = appendExchange(assistant, journey, {
      prompt: request.prompt,
      contextFiles,
      payload: attachments === undefined ? {} : {attachment_manifest: attachments},
      answer,
      model: model.name,
      tokens,
      isCutOff,
    })
    const {journey: _, ...message} = turns.at(-1) as Turn
    const history = [...recent(turns.slice(0, -2)), ...turns.slice(-2)]
    return {
      message: {...message, role: 'assistant', model_used: model.name, tokens, context_files: contextFiles},
      history: history.map(({role, content}) => ({role, content})),
      model_used: model.name,
      tokens,
      session_id: sessionId,
      journey,
      ...(tools === undefined ? {} : {tools_used: used}),
    }
  })
}

async function askForText(model: Model, question: Question, onDelta?: (text: string) => void): Promise<Generation> {
  const generation = await model.ask(question, onDelta)
  const text = generation.text.trim()
  if (text === '') throw new SvcError('answer_empty', {model: model.name})
  return {...generation, text}
}

/** Asks again if the first answer is not JSON, unless it was cut off at the token limit. */
async function askForJson(model: Model, question: Question): Promise<Generation> {
  const {anyJson} = await import('../../inference-client/index.js')
  const asked = {...question, format: anyJson}
  const first = await askForText(model, asked)
  const read = readJsonAnswer(first.text)
  if ('json' in read) return {...first, text: read.json}
  const refusal = (attempts: number, {cutOff}: Generation, {reason}: JsonFault) =>
    new SvcError('answer_not_json', {
      model: model.name,
      attempts,
      reason: cutOff ? `the answer was cut off at ${question.maxTokens} tokens` : reason,
      cut: cutOff,
    })
  if (first.cutOff) throw refusal(1, first, read)
  const messages = jsonAgain(question.messages, first.text, read.detail)
  const second = await askForText(model, {...asked, messages})
  const again = readJsonAnswer(second.text)
  if ('json' in again) return {...second, text: again.json}
  throw refusal(2, second, again)
}
