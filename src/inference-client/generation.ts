import type {HttpClient} from '../net/index.js'
import {type AnswerRoute, defaultGenerationLimits, type Generation, streamedAnswer} from './streamed-answer.js'

/** One call of `/api/generate`. */
export interface GenerationRequest {
  model: string
  system: string
  prompt: string
  temperature: number
  /** Only the likeliest tokens that make up this share, 0 to 1; the server decides when left out. */
  topP?: number | undefined
  /** Most tokens of the answer. */
  maxTokens: number
  /** Tokens of question and answer that are asked for; the server decides when left out. */
  contextLength?: number | undefined
}

const route: AnswerRoute = {path: '/api/generate', member: 'response', textOf: ({response}) => response}

/**
 * Has a text generated, and reads it as it is made. The connection ends with the answer, and at once when the signal
 * aborts.
 * @throws as `streamedAnswer`
 */
export const generate = (
  client: HttpClient,
  {model, system, prompt, temperature, topP, maxTokens, contextLength}: GenerationRequest,
  signal: AbortSignal,
  limits = defaultGenerationLimits,
): Promise<Generation> => {
  const options = {
    temperature,
    ...(topP === undefined ? {} : {top_p: topP}),
    num_predict: maxTokens,
    ...(contextLength === undefined ? {} : {num_ctx: contextLength}),
  }
  return streamedAnswer(client, route, {model, system, prompt, stream: true, options}, {signal, limits})
}
