import {defaultSampling, type SamplingOptions} from '../../sampling/index.js'
import {modelParameters} from '../../weights/index.js'
import {Fields, stopBounds} from '../body.js'
import type {RequestDefaults} from '../defaults.js'

export interface OllamaOptions {
  sampling: SamplingOptions
  /** Undefined: until the context is full. */
  maxTokens: number | undefined
  stop: readonly string[]
  /** As requested; the context length of the model may be smaller. */
  numCtx: number
  /** Paths of unknown options. */
  unknown: readonly string[]
}

/** @throws bad_request */
export function readOptions(body: Fields, defaults: RequestDefaults): OllamaOptions {
  const options = body.object('options', (name) => `option "${name}"`) ?? new Fields({})
  return {
    sampling: readSampling(options, defaults),
    maxTokens: readMaxTokens(options, defaults),
    stop: options.texts('stop', stopBounds) ?? defaults.stop,
    numCtx: options.integer('num_ctx', modelParameters.num_ctx) ?? defaults.numCtx,
    unknown: options.unknown,
  }
}

function readSampling(options: Fields, {sampling, seed}: RequestDefaults): SamplingOptions {
  const otherwise = {...defaultSampling, ...sampling}
  const bounds = modelParameters
  return {
    temperature: options.number('temperature', bounds.temperature) ?? otherwise.temperature,
    // Below 1 means all tokens, as in llama.cpp.
    topK: Math.max(0, options.integer('top_k') ?? otherwise.topK),
    topP: options.number('top_p', bounds.top_p) ?? otherwise.topP,
    minP: options.number('min_p', bounds.min_p) ?? otherwise.minP,
    seed: readSeed(options, seed),
    repeatPenalty: options.number('repeat_penalty', bounds.repeat_penalty) ?? otherwise.repeatPenalty,
    presencePenalty: options.number('presence_penalty', bounds.presence_penalty) ?? otherwise.presencePenalty,
    frequencyPenalty: options.number('frequency_penalty', bounds.frequency_penalty) ?? otherwise.frequencyPenalty,
    repeatLastN: options.integer('repeat_last_n', bounds.repeat_last_n) ?? otherwise.repeatLastN,
    logitBias: defaultSampling.logitBias,
  }
}

/** The lowest 32 bits of the seed; -1 selects a random one. */
function readSeed(options: Fields, random: () => number): number {
  const seed = options.integer('seed') ?? -1
  return (seed === -1 ? random() : seed) >>> 0
}

/** -1 and -2: until the context is full; 0: the default. */
function readMaxTokens(options: Fields, {maxTokens}: RequestDefaults): number | undefined {
  const count = options.integer('num_predict', modelParameters.num_predict) ?? 0
  if (count < 0) return undefined
  return count === 0 ? maxTokens : count
}
