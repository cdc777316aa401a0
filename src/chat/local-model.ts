import {counted, SvcError} from '../errors/index.js'
import {type Engine, type GenerateRequest, type Prompt, thinkingOf} from '../llm/index.js'
import {defaultSampling, type SamplingOptions} from '../sampling/index.js'
import type {ChatModel} from './chat-model.js'
import type {Conversation} from './conversation.js'

/** What is used unless a conversation has the parameter. */
export interface ChatDefaults {
  sampling: Pick<SamplingOptions, 'temperature' | 'topK' | 'topP'>
  /** Undefined: until the context is full. */
  maxTokens: number | undefined
}

/**
 * A model in this process. Without a chat template, it continues the conversation as plain text.
 * @throws chat_template_failed
 */
export function localModel(engine: Engine, defaults: ChatDefaults): ChatModel {
  const {description} = engine
  if (description.templateError !== undefined) throw SvcError.fromRecord(description.templateError)
  return {
    name: description.name,
    facts: [
      ['family', description.family],
      ['parameters', description.parameterCount.toLocaleString('en')],
      ['precision', description.precision],
      ['context', counted(description.contextLength, 'token')],
      ['template', description.template !== undefined ? 'of the model' : 'none: plain text is continued'],
      ['thinking', description.abilities.thinking ? 'yes' : 'no'],
    ],
    async reply(conversation, question, print, signal) {
      for await (const event of engine.generate(requestOf(engine, defaults, conversation, question), signal)) {
        if (event.type === 'thinking' || event.type === 'text') await print({event: event.type, text: event.text})
        if (event.type !== 'done') continue
        const {finishReason, promptTokens, completionTokens} = event
        return {
          finishReason: finishReason === 'length' ? 'length' : 'stop',
          promptTokens,
          completionTokens,
          summary: event,
        }
      }
      throw new Error('The engine ended without a summary.')
    },
    close: () => engine.close(),
  }
}

/** @throws thinking_unsupported */
function requestOf(
  engine: Engine,
  {sampling, maxTokens}: ChatDefaults,
  conversation: Conversation,
  question: string,
): GenerateRequest {
  const {think, format, parameters} = conversation
  const {num_predict: longest, num_ctx: contextLength} = parameters
  const {thinking, variables} = thinkingOf(engine.description, think)
  const messages = [...conversation.messages, {role: 'user' as const, content: question}].map(
    ({thinking: thoughts, ...message}) => ({
      ...message,
      ...(thoughts === undefined ? {} : {reasoning_content: thoughts}),
    }),
  )
  const prompt: Prompt = {kind: 'chat', messages, overflow: 'drop_oldest', ...(variables && {variables})}
  return {
    prompt,
    maxTokens: longest === undefined ? maxTokens : longest === -1 ? undefined : longest,
    stop: parameters.stop ?? [],
    sampling: samplingOf(sampling, parameters),
    ...(contextLength === undefined ? {} : {contextLength}),
    ...(thinking === undefined ? {} : {thinking}),
    ...(format === undefined ? {} : {format: format === 'json' ? {kind: 'json'} : {kind: 'schema', schema: format}}),
  }
}

const samplingOf = (sampling: ChatDefaults['sampling'], parameters: Conversation['parameters']): SamplingOptions => ({
  temperature: parameters.temperature ?? sampling.temperature,
  topK: parameters.top_k ?? sampling.topK,
  topP: parameters.top_p ?? sampling.topP,
  minP: parameters.min_p ?? defaultSampling.minP,
  seed: parameters.seed ?? Math.floor(Math.random() * 2 ** 32),
  repeatPenalty: parameters.repeat_penalty ?? defaultSampling.repeatPenalty,
  repeatLastN: parameters.repeat_last_n ?? defaultSampling.repeatLastN,
  presencePenalty: parameters.presence_penalty ?? defaultSampling.presencePenalty,
  frequencyPenalty: parameters.frequency_penalty ?? defaultSampling.frequencyPenalty,
  logitBias: defaultSampling.logitBias,
})
