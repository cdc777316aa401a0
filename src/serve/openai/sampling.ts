import type {SamplingOptions} from '../../sampling/index.js'
import type {Fields} from '../body.js'

/** What the server does where a request says nothing. */
export interface OpenAiDefaults {
  maxTokens: number
  temperature: number
  /** A new 32-bit seed. */
  seed(): number
}

const penalty = {min: -2, max: 2}

/** `top_k`, `min_p` and `repetition_penalty` are extensions, as other servers of this dialect know them. */
export const readSampling = (body: Fields, defaults: OpenAiDefaults): SamplingOptions => ({
  temperature: body.number('temperature', {min: 0, max: 2}) ?? defaults.temperature,
  // Below 1 means all tokens.
  topK: Math.max(0, body.integer('top_k') ?? 0),
  topP: body.number('top_p', {min: 0, max: 1}) ?? 1,
  minP: body.number('min_p', {min: 0, max: 1}) ?? 0,
  seed: (body.integer('seed') ?? defaults.seed()) >>> 0,
  // Wide enough for every use, narrow enough that logits stay finite.
  repeatPenalty: body.number('repetition_penalty', {min: 0.01, max: 100}) ?? 1,
  presencePenalty: body.number('presence_penalty', penalty) ?? 0,
  frequencyPenalty: body.number('frequency_penalty', penalty) ?? 0,
  // This dialect has no window: penalties look at the whole text.
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
