import {assistantSettings, resolveSettings, type SettingSources} from '../config/index.js'
import {completeChat, completionModel} from './chat-completion.js'
import type {ChatMessage, JsonSchema} from './chat-request.js'
import {inferenceClient, resolveEndpoint} from './endpoint.js'

/** Asks a model once for the next message. */
export type Ask = (
  messages: readonly ChatMessage[],
  parameters: {
    maxTokens: number
    /** If undefined, that of the settings. */
    temperature: number | undefined
    /** JSON Schema of the answer; not every server enforces it. */
    format?: JsonSchema | undefined
    signal: AbortSignal
  },
) => Promise<string>

/** Maximum size of a response, bytes. */
const maxBodyBytes = 4 << 20

/**
 * Finds the model of the configured inference server, which can be any server with the OpenAI API.
 * @throws what `completionModel` throws; the reason of the signal
 */
export async function askEndpoint(sources: SettingSources, signal: AbortSignal): Promise<Ask> {
  const {endpoint} = resolveEndpoint(sources)
  const {timeoutMs} = resolveSettings(assistantSettings, sources).values
  const client = inferenceClient(endpoint, {attempts: 1, maxBodyBytes, idleTimeoutMs: timeoutMs})
  try {
    const model = await completionModel(client, endpoint, signal)
    return async (messages, {maxTokens, temperature = endpoint.temperature, format, signal: limited}) => {
      try {
        const {text} = await completeChat(client, {model, messages, temperature, maxTokens, format}, limited)
        return text
      } finally {
        await client.close()
      }
    }
  } catch (error) {
    await client.close()
    throw error
  }
}
