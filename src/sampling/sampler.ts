import {SvcError} from '../errors/index.js'
import {draw, minP, softmax, topP} from './candidates.js'
import {ban, force, logitBias} from './logit-bias.js'
import type {LogitsProcessor} from './logits-processor.js'
import {argmax, finiteTokens, mostLikely} from './most-likely.js'
import type {SamplingOptions} from './options.js'
import {penalties} from './penalties.js'
import {randomSource} from './random.js'
import type {TopLogits} from './top-logits.js'

/**
 * Selects a token from the logits of one position, `[vocabulary]`. `history` contains the tokens of the prompt and the
 * reply so far. The logits are not modified; tokens with non-finite logits are never selected.
 * @param allowed a bit per token, the first in the lowest bit; default: all may be selected. Forced tokens and further
 *   processors have no effect where they exclude all of these.
 * @param top the most likely tokens, if they are known: where enough of them are allowed, the other logits are not read
 * @throws generation_failed if no logit is finite; bad_request if the bias bans all tokens
 */
export type Sampler = (
  logits: Float32Array,
  history: readonly number[],
  allowed?: Uint32Array,
  top?: TopLogits,
) => number

/**
 * Excludes tokens that are not allowed, then applies logit bias, penalties, further processors, top-k, temperature, softmax,
 * top-p and min-p in this order, then draws a token. At temperature 0 it selects the most likely token after bias and
 * penalties. Deterministic for the same options and logits.
 */
export function createSampler(options: SamplingOptions, further: readonly LogitsProcessor[] = []): Sampler {
  const processors = [...processorsOf(options), ...further]
  const process = logitsProcessing(processors)
  const processAllowed = logitsProcessing(processorsOf({...options, logitBias: withoutForced(options.logitBias)}))
  const {temperature, topK} = options
  const drawToken = seededDraw(options)
  const choose = temperature === 0 ? argmax : drawFromAll(topK, drawToken)
  const deciding = temperature === 0 ? 1 : topK
  return (logits, history, allowed, top) => {
    if (processors.length === 0 && allowed !== undefined && top !== undefined) {
      const {ids, values} = firstAllowed(top, allowed, deciding)
      if (deciding > 0 && ids.length === deciding) return temperature === 0 ? ids[0]! : drawToken(ids, values)
    }
    let token = choose(process(logits, history, allowed))
    if (token < 0 && allowed !== undefined) token = choose(processAllowed(logits, history, allowed))
    return token >= 0 ? token : failWithoutToken(options, allowed)
  }
}

/** The most likely tokens that are allowed, at most `count`. */
function firstAllowed({ids, logits}: TopLogits, allowed: Uint32Array, count: number) {
  const max = Math.min(count, ids.length)
  const found = {ids: new Uint32Array(max), values: new Float32Array(max)}
  let at = 0
  for (let i = 0; i < ids.length && at < max; i++) {
    const id = ids[i]!
    if (((allowed[id >>> 5] ?? 0) >>> (id & 31)) & 1) {
      found.ids[at] = id
      found.values[at++] = logits[i]!
    }
  }
  return {ids: found.ids.subarray(0, at), values: found.values.subarray(0, at)}
}

/** Selects a token from the most likely ones; the same as `Sampler` selects from the logits of all tokens. */
export type TopSampler = (top: TopLogits) => number

/**
 * A sampler that needs only the `count` most likely tokens, or undefined if the options need the logits of all tokens:
 * with bias, with penalties, or if they may select a less likely token.
 * @throws generation_failed if no logit is finite
 */
export function createTopSampler(options: SamplingOptions, count: number): TopSampler | undefined {
  const {temperature, topK} = options
  if (processorsOf(options).length > 0) return undefined
  if (temperature > 0 && (topK === 0 || topK > count)) return undefined
  const draw = seededDraw(options)
  return ({ids, logits}) => {
    const token = temperature === 0 ? (ids[0] ?? -1) : draw(ids.subarray(0, topK), logits.subarray(0, topK))
    return token >= 0 ? token : failWithoutToken(options)
  }
}

const processorsOf = (options: SamplingOptions) =>
  [logitBias(options.logitBias), penalties(options)].filter((processor) => processor !== undefined)

const withoutForced = (biases: SamplingOptions['logitBias']): SamplingOptions['logitBias'] =>
  Object.fromEntries(Object.entries(biases).filter(([, bias]) => bias < force))

/** Applies processors to a copy that is reused by the next step; if there is nothing to apply, returns the caller's logits. */
function logitsProcessing(
  processors: readonly LogitsProcessor[],
): (logits: Float32Array, history: readonly number[], allowed?: Uint32Array) => Float32Array {
  let copy = new Float32Array()
  return (logits, history, allowed) => {
    if (processors.length === 0 && allowed === undefined) return logits
    if (copy.length !== logits.length) copy = new Float32Array(logits.length)
    copy.set(logits)
    if (allowed !== undefined) excludeOthers(copy, allowed)
    for (const process of processors) process(copy, history)
    // A processor that forces tokens includes them.
    if (allowed !== undefined && processors.length > 0) excludeOthers(copy, allowed)
    return copy
  }
}

/** Makes tokens impossible that are not allowed. */
function excludeOthers(logits: Float32Array, allowed: Uint32Array): void {
  for (let i = 0; i < allowed.length; i++) {
    const word = allowed[i]!
    const first = 32 * i
    if (word === 0) logits.fill(-Infinity, first, first + 32)
    else if (word !== 0xffffffff)
      for (let bit = 0; bit < 32; bit++) if (((word >>> bit) & 1) === 0) logits[first + bit] = -Infinity
  }
  logits.fill(-Infinity, 32 * allowed.length)
}

function drawFromAll(topK: number, drawToken: ReturnType<typeof seededDraw>): (logits: Float32Array) => number {
  return (logits) => {
    const ids = topK === 0 || topK >= logits.length ? finiteTokens(logits) : mostLikely(logits, topK)
    const values = new Float32Array(ids.length)
    for (let i = 0; i < ids.length; i++) values[i] = logits[ids[i]!]!
    return drawToken(ids, values)
  }
}

/** Returns -1 if there is no token. */
function seededDraw({
  temperature,
  seed,
  ...options
}: SamplingOptions): (ids: Uint32Array, logits: Float32Array) => number {
  const random = randomSource(seed)
  return (ids, logits) => {
    if (ids.length === 0) return -1
    return draw(minP(topP(softmax(ids, logits, temperature), options.topP), options.minP), random())
  }
}

/** If the request bans tokens, it has banned all of them; otherwise the model is defective. */
function failWithoutToken({logitBias: biases}: SamplingOptions, allowed?: Uint32Array): never {
  const those = allowed === undefined ? '' : ' that the format of the reply allows'
  if (Object.values(biases).some((bias) => bias <= ban))
    throw new SvcError('bad_request', {reason: `logit_bias bans every token${those}`, param: 'logit_bias'})
  throw new SvcError('generation_failed', {reason: 'no token can be selected because no logit is finite'})
}
