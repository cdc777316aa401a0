import {SvcError} from '../errors/index.js'
import {draw, minP, softmax, topP} from './candidates.js'
import {ban, logitBias} from './logit-bias.js'
import {argmax, finiteTokens, mostLikely} from './most-likely.js'
import type {SamplingOptions} from './options.js'
import {penalties} from './penalties.js'
import {randomSource} from './random.js'

/**
 * Selects a token from the logits of one position, `[vocabulary]`. `history` contains the tokens of the prompt and the
 * reply so far. The logits are not modified; tokens with non-finite logits are never selected.
 * @throws generation_failed if no logit is finite; bad_request if the bias bans all tokens
 */
export type Sampler = (logits: Float32Array, history: readonly number[]) => number

/**
 * Applies logit bias, penalties, top-k, temperature, softmax, top-p and min-p in this order, then draws a token. At
 * temperature 0 it selects the most likely token after bias and penalties. Deterministic for the same options and logits.
 */
export function createSampler(options: SamplingOptions): Sampler {
  const process = logitsProcessing(options)
  const choose = options.temperature === 0 ? argmax : seededDraw(options)
  return (logits, history) => {
    const token = choose(process(logits, history))
    return token >= 0 ? token : failWithoutToken(options)
  }
}

/** Applies bias and penalties to a copy that is reused by the next step; without any, returns the caller's logits. */
function logitsProcessing(
  options: SamplingOptions,
): (logits: Float32Array, history: readonly number[]) => Float32Array {
  const processors = [logitBias(options.logitBias), penalties(options)].filter((processor) => processor !== undefined)
  if (processors.length === 0) return (logits) => logits
  let copy = new Float32Array()
  return (logits, history) => {
    if (copy.length !== logits.length) copy = new Float32Array(logits.length)
    copy.set(logits)
    for (const process of processors) process(copy, history)
    return copy
  }
}

/** Returns -1 if no token is left. */
function seededDraw(options: SamplingOptions): (logits: Float32Array) => number {
  const {temperature, topK} = options
  const random = randomSource(options.seed)
  return (logits) => {
    const all = topK === 0 || topK >= logits.length
    const ids = all ? finiteTokens(logits) : mostLikely(logits, topK)
    if (ids.length === 0) return -1
    const candidates = softmax(ids, logits, temperature)
    return draw(minP(topP(candidates, options.topP), options.minP), random())
  }
}

/** If the request bans tokens, it has banned all of them; otherwise the model is defective. */
function failWithoutToken({logitBias: biases}: SamplingOptions): never {
  if (Object.values(biases).some((bias) => bias <= ban))
    throw new SvcError('bad_request', {reason: 'logit_bias bans every token', param: 'logit_bias'})
  throw new SvcError('generation_failed', {reason: 'no token can be selected because no logit is finite'})
}
