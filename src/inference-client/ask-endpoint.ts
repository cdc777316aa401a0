import {assistantSettings, resolveSettings, type SettingSources} from '../config/index.js'
import type {ChatMessage} from './chat.js'
import {inferenceClient, resolveEndpoint} from './endpoint.js'
import {openAiChat} from './openai-chat.js'
import {modelRegistry} from './registry.js'
import {servedModels} from './served-models.js'

/** Asks a model for the next message. An undefined temperature is that of the settings. */
export type Ask = (
  messages: readonly ChatMessage[],
  parameters: {maxTokens: number; temperature: number | undefined; signal: AbortSignal},
) => Promise<string>

/**
 * Chooses the model of the configured server: the configured one or, if none is, the first that the server lists.
 * @throws the reason of the signal
 */
export async function askEndpoint(sources: SettingSources, signal: AbortSignal): Promise<Ask> {
  const {timeoutMs} = resolveSettings(assistantSettings, sources).values
  const {endpoint} = resolveEndpoint(sources)
  const open = () => inferenceClient(endpoint, {idleTimeoutMs: timeoutMs})
  const using = async <T>(work: (client: ReturnType<typeof open>) => Promise<T>): Promise<T> => {
    const client = open()
    try {
      return await work(client)
    } finally {
      await client.close()
    }
  }
  const [{id: model} = {id: endpoint.model}] = modelRegistry(
    endpoint,
    await using((client) => servedModels(client, signal)),
  )
  return (messages, {maxTokens, temperature = endpoint.temperature, signal: limited}) =>
    using((client) => openAiChat(client, {model, messages, temperature, maxTokens}, limited))
}
