import {SvcError} from '../errors/index.js'
import {draw, minP, softmax, topP} from './candidates.js'
import {ban, logitBias} from './logit-bias.js'
import {argmax, finiteTokens, mostLikely} from './most-likely.js'
import type {SamplingOptions} from './options.js'
import {penalties} from './penalties.js'
import {randomSource} from './random.js'

/**
 * Chooses a token from the logits of one position, `[vocabulary]`; `history` is prompt and reply so far. The logits are
 * left as they are, and one that is not finite is never chosen.
 * @throws generation_failed when no token is left; bad_request when the bias has taken them
 */
export type Sampler = (logits: Float32Array, history: readonly number[]) => number

/**
 * Logit bias, penalties, top-k, temperature, softmax, top-p, min-p and a draw, in this order; at temperature 0 the most
 * likely token after bias and penalties. The same options give the same tokens for the same logits.
 */
export function createSampler(options: SamplingOptions): Sampler {
  const process = logitsProcessing(options)
  const choose = options.temperature === 0 ? argmax : seededDraw(options)
  return (logits, history) => {
    const token = choose(process(logits, history))
    return token >= 0 ? token : failWithoutToken(options)
  }
}

/** The logits after bias and penalties: the caller's own where there are none, else a copy that lasts one step. */
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

/** Gives -1 where no token is left. */
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

/** Whoever banned tokens has banned them all; else the model is at fault. */
function failWithoutToken({logitBias: biases}: SamplingOptions): never {
  if (Object.values(biases).some((bias) => bias <= ban))
    throw new SvcError('bad_request', {reason: 'logit_bias leaves no token to choose from', param: 'logit_bias'})
  throw new SvcError('generation_failed', {reason: 'no token is left to choose from: no logit is finite'})
}
