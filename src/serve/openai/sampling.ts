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

/** `top_k`, `min_p` and `repetition_penalty` are extensions that other OpenAI-compatible servers have as well. */
export const readSampling = (body: Fields, defaults: OpenAiDefaults): SamplingOptions => ({
  temperature: body.number('temperature', {min: 0, max: 2}) ?? defaults.temperature,
  // Below 1 means all tokens.
  topK: Math.max(0, body.integer('top_k') ?? 0),
  topP: body.number('top_p', {min: 0, max: 1}) ?? 1,
  minP: body.number('min_p', {min: 0, max: 1}) ?? 0,
  seed: (body.integer('seed') ?? defaults.seed()) >>> 0,
  // Wide enough for any use, but narrow enough to keep logits finite.
  repeatPenalty: body.number('repetition_penalty', {min: 0.01, max: 100}) ?? defaultSampling.repeatPenalty,
  presencePenalty: body.number('presence_penalty', penalty) ?? 0,
  frequencyPenalty: body.number('frequency_penalty', penalty) ?? 0,
  // This API has no window: penalties apply to the complete text.
  repeatLastN: -1,
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
