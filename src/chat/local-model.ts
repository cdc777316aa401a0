import {counted, SvcError} from '../errors/index.js'
import {
  declaredRequest,
  type Engine,
  type GenerateRequest,
  mergeDefaults,
  type Prompt,
  thinkingOf,
  withDefaults,
} from '../llm/index.js'
import type {ModelDefaults} from '../weights/index.js'
import type {ChatModel} from './chat-model.js'
import type {Conversation} from './conversation.js'

type Fallback = Parameters<typeof declaredRequest>[1]

/**
 * A model in this process. Without a chat template, it continues the conversation as plain text.
 * @param chosen what the user has chosen; it precedes the defaults of the model, and the parameters of a conversation precede both
 * @param fallback of parameters that nothing declares
 * @throws chat_template_failed
 */
export function localModel(engine: Engine, chosen: ModelDefaults, fallback: Fallback): ChatModel {
  const {description} = engine
  const defaults = mergeDefaults(chosen, description.defaults)
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
      for await (const event of engine.generate(
        requestOf(engine, defaults, fallback, conversation, question),
        signal,
      )) {
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
  defaults: ModelDefaults,
  fallback: Fallback,
  conversation: Conversation,
  question: string,
): GenerateRequest {
  const {think, format} = conversation
  const {num_ctx: contextLength, stop = defaults.stop ?? [], ...parameters} = conversation.parameters
  const {thinking, variables} = thinkingOf(engine.description, think)
  const messages = [...conversation.messages, {role: 'user' as const, content: question}].map(
    ({thinking: thoughts, ...message}) => ({
      ...message,
      ...(thoughts === undefined ? {} : {reasoning_content: thoughts}),
    }),
  )
  const prompt: Prompt = {kind: 'chat', messages, overflow: 'drop_oldest', ...(variables && {variables})}
  return {
    ...declaredRequest({stop, parameters: {...defaults.parameters, ...parameters}}, fallback),
    prompt: withDefaults(prompt, defaults),
    ...(contextLength === undefined ? {} : {contextLength}),
    ...(thinking === undefined ? {} : {thinking}),
    ...(format === undefined ? {} : {format: format === 'json' ? {kind: 'json'} : {kind: 'schema', schema: format}}),
  }
}
