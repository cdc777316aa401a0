import {defaultSampling, type SamplingOptions} from '../../sampling/index.js'
import type {Fields} from '../body.js'

/** Defaults for omitted fields. */
export interface OpenAiDefaults {
  maxTokens: number
  temperature: number
  /** A new 32-bit seed. */
  seed(): number
}

const penalty = {min: -2, max: 2}
/** Wide enough for any use, but narrow enough to keep logits finite. */
const repeatPenalty = {min: 0.01, max: 100}

/**
 * Maximum tokens of a reply; undefined until the context is full, which -1 requests as in llama.cpp.
 * @param names in the order of precedence
 */
export function readMaxTokens(
  body: Fields,
  names: readonly string[],
  min: number,
  defaults: OpenAiDefaults,
): number | undefined {
  const counts = names.map((name) => {
    const count = body.integer(name)
    if (count !== undefined && count !== -1 && count < min) throw body.wrong(name, `be -1 or at least ${min}`)
    return count
  })
  const count = counts.find((each) => each !== undefined) ?? defaults.maxTokens
  return count === -1 ? undefined : count
}

/** `top_k`, `min_p` and the repetition penalty are extensions that other OpenAI-compatible servers have as well. */
export const readSampling = (body: Fields, defaults: OpenAiDefaults): SamplingOptions => ({
  temperature: body.number('temperature', {min: 0, max: 2}) ?? defaults.temperature,
  // Below 1 means all tokens.
  topK: Math.max(0, body.integer('top_k') ?? 0),
  topP: body.number('top_p', {min: 0, max: 1}) ?? 1,
  minP: body.number('min_p', {min: 0, max: 1}) ?? 0,
  seed: (body.integer('seed') ?? defaults.seed()) >>> 0,
  repeatPenalty:
    body.number('repetition_penalty', repeatPenalty) ??
    body.number('repeat_penalty', repeatPenalty) ??
    defaultSampling.repeatPenalty,
  presencePenalty: body.number('presence_penalty', penalty) ?? 0,
  frequencyPenalty: body.number('frequency_penalty', penalty) ?? 0,
  // OpenAI's API has no window: penalties apply to the complete text.
  repeatLastN: body.integer('repeat_last_n', {min: -1}) ?? -1,
  logitBias: readLogitBias(body),
})

function readLogitBias(body: Fields): Record<number, number> {
  const biases = body.object('logit_bias')
  const read = (token: string): [string, number] => {
    if (!/^\d{1,10}$/.test(token)) throw body.wrong('logit_bias', 'have token ids as its keys')
    return [token, biases?.number(token, {min: -100, max: 100}) ?? 0]
  }
  return Object.fromEntries((biases?.names ?? []).map(read))
}
