import {defaultSampling, type SamplingOptions} from '../sampling/index.js'
import type {Fields} from './body.js'
import type {RequestDefaults} from './defaults.js'

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
  defaults: RequestDefaults,
): number | undefined {
  const counts = names.map((name) => {
    const count = body.integer(name)
    if (count !== undefined && count !== -1 && count < min) throw body.wrong(name, `be -1 or at least ${min}`)
    return count
  })
  const count = counts.find((each) => each !== undefined)
  if (count === undefined) return defaults.maxTokens
  return count === -1 ? undefined : count
}

/** What OpenAI's API leaves to other fields. It has no window: penalties apply to the complete text. */
const openAiSampling = {...defaultSampling, topK: 0, topP: 1, minP: 0, repeatLastN: -1}

/** `top_k`, `min_p` and the repetition penalty are extensions that other OpenAI-compatible servers have as well. */
export function readSampling(body: Fields, {sampling, seed}: RequestDefaults): SamplingOptions {
  const otherwise = {...openAiSampling, ...sampling}
  return {
    temperature: body.number('temperature', {min: 0, max: 2}) ?? otherwise.temperature,
    // Below 1 means all tokens.
    topK: Math.max(0, body.integer('top_k') ?? otherwise.topK),
    topP: body.number('top_p', {min: 0, max: 1}) ?? otherwise.topP,
    minP: body.number('min_p', {min: 0, max: 1}) ?? otherwise.minP,
    seed: (body.integer('seed') ?? seed()) >>> 0,
    repeatPenalty:
      body.number('repetition_penalty', repeatPenalty) ??
      body.number('repeat_penalty', repeatPenalty) ??
      otherwise.repeatPenalty,
    presencePenalty: body.number('presence_penalty', penalty) ?? otherwise.presencePenalty,
    frequencyPenalty: body.number('frequency_penalty', penalty) ?? otherwise.frequencyPenalty,
    repeatLastN: body.integer('repeat_last_n', {min: -1}) ?? otherwise.repeatLastN,
    logitBias: readLogitBias(body),
  }
}

function readLogitBias(body: Fields): Record<number, number> {
  const biases = body.object('logit_bias')
  const read = (token: string): [string, number] => {
    if (!/^\d{1,10}$/.test(token)) throw body.wrong('logit_bias', 'have token ids as its keys')
    return [token, biases?.number(token, {min: -100, max: 100}) ?? 0]
  }
  return Object.fromEntries((biases?.names ?? []).map(read))
}
