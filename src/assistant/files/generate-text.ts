import {SvcError} from '../../errors/index.js'
import type {ChatMessage} from '../../inference-client/index.js'
import {type Model, withModel} from '../ask-model.js'
import type {Assistant, Work} from '../assistant.js'

/** Ids of a request for the records of its model calls. */
export type Call = Pick<Work, 'journeyId' | 'sessionId' | 'traceId'>

export interface Generated {
  text: string
  model: string
}

/** Low, so that repeated reviews and fixes differ little. */
const precise = 0.2

/**
 * Generates a text, which is not stored.
 * @throws answer_empty; errors of the model call; the abort reason of the signal
 */
export const generateText = (
  assistant: Assistant,
  {prompt, isJson}: {prompt: string; isJson: boolean},
  call: Call,
  signal: AbortSignal,
): Promise<Generated> =>
  withModel(assistant, {surface: 'generate_text', category: 'general', ...usual, ...call}, signal, async (model) => ({
    text: await answerOf(model, [{role: 'user', content: prompt}], {
      temperature: assistant.endpoint.temperature,
      maxTokens: assistant.endpoint.maxTokens,
      ...(isJson ? {format: 'json' as const} : {}),
    }),
    model: model.name,
  }))

const usual = {complexity: 5, economy: false}

/** Asks a model about a file with a low temperature. @throws as `generateText` */
export const askAboutFile = (
  assistant: Assistant,
  messages: readonly ChatMessage[],
  work: Pick<Work, 'surface' | 'category'> & Call,
  signal: AbortSignal,
): Promise<Generated> =>
  withModel(assistant, {...usual, ...work}, signal, async (model) => ({
    text: await answerOf(model, messages, {temperature: precise, maxTokens: assistant.endpoint.maxTokens}),
    model: model.name,
  }))

async function answerOf(
  model: Model,
  messages: readonly ChatMessage[],
  parameters: Omit<Parameters<Model['ask']>[0], 'messages'>,
): Promise<string> {
  const {text} = await model.ask({messages, ...parameters})
  if (text.trim() === '') throw new SvcError('answer_empty', {model: model.name})
  return text
}
