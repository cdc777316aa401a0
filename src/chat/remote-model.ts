import {SvcError} from '../errors/index.js'
import type {InferenceEndpoint} from '../inference-client/index.js'
import type {ChatModel} from './chat-model.js'
import type {Conversation} from './conversation.js'

/** Timeout of a server that sends nothing, because it reads a long conversation, ms. */
const idleTimeoutMs = 600_000

/** Parameters that servers without the Ollama API know, by other names. */
const commonParameters = new Set(['temperature', 'top_p', 'num_predict'])

/**
 * A model on a server, with the API that the profile of the endpoint names.
 * @param named the model; default: the configured one, else the first one that the server lists
 * @throws what `completionModel` throws
 */
export async function remoteModel(
  endpoint: InferenceEndpoint,
  named: string | undefined,
  signal: AbortSignal,
): Promise<ChatModel> {
  const {chat, completionModel, defaultGenerationLimits, inferenceClient, isLocalServer} = await import(
    '../inference-client/index.js'
  )
  const {baseUrl: url, profile} = endpoint
  const client = inferenceClient(endpoint, {attempts: 1, idleTimeoutMs})
  const name =
    named ??
    (await completionModel(client, endpoint, signal).catch(async (error) => {
      await client.close()
      throw error
    }))
  return {
    name,
    facts: [['server', url]],
    async reply(conversation, question, print, limited) {
      if (!isLocalServer(profile)) refuseUnsent(url, conversation)
      const {parameters, think, format} = conversation
      const {temperature = endpoint.temperature, top_p: topP, num_predict: maxTokens, ...options} = parameters
      const request = {
        model: name,
        messages: [...conversation.messages, {role: 'user' as const, content: question}],
        temperature,
        topP,
        maxTokens: maxTokens ?? endpoint.maxTokens,
        format,
        options,
        think,
      }
      const {text: _, ...end} = await chat(client, request, limited, defaultGenerationLimits, {
        onDelta: (text) => print({event: 'text', text}),
        onThinking: (text) => print({event: 'thinking', text}),
      })
      return {
        finishReason: end.cutOff ? 'length' : 'stop',
        promptTokens: end.inputTokens,
        completionTokens: end.outputTokens,
      }
    },
    close: () => client.close(),
  }
}

/** @throws parameter_unsupported for what a server without the Ollama API would not receive */
function refuseUnsent(url: string, {parameters, think, format}: Conversation): void {
  const unsent = [
    ...Object.keys(parameters).filter((name) => !commonParameters.has(name)),
    ...(think === undefined ? [] : ['think']),
    ...(typeof format === 'object' ? ['format'] : []),
  ]
  if (unsent[0] !== undefined) throw new SvcError('parameter_unsupported', {name: unsent[0], url})
}
