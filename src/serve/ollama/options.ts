import {defaultSampling, type SamplingOptions} from '../../sampling/index.js'
import {Fields, stopBounds} from '../body.js'

/** Defaults for omitted options. */
export interface OllamaDefaults {
  maxTokens: number
  temperature: number
  numCtx: number
  /** A new 32-bit seed. */
  seed(): number
}

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

/** Wide enough for any use, but narrow enough to keep logits finite. */
const penalty = {min: -100, max: 100}

/** @throws bad_request */
export function readOptions(body: Fields, defaults: OllamaDefaults): OllamaOptions {
  const options = body.object('options', (name) => `option "${name}"`) ?? new Fields({})
  return {
    sampling: readSampling(options, defaults),
    maxTokens: readMaxTokens(options, defaults),
    stop: options.texts('stop', stopBounds) ?? [],
    numCtx: options.integer('num_ctx', {min: 1}) ?? defaults.numCtx,
    unknown: options.unknown,
  }
}

function readSampling(options: Fields, defaults: OllamaDefaults): SamplingOptions {
  return {
    temperature: options.number('temperature', {min: 0}) ?? defaults.temperature,
    // Below 1 means all tokens, as in llama.cpp.
    topK: Math.max(0, options.integer('top_k') ?? defaultSampling.topK),
    topP: options.number('top_p', {min: 0, max: 1}) ?? defaultSampling.topP,
    minP: options.number('min_p', {min: 0, max: 1}) ?? defaultSampling.minP,
    seed: readSeed(options, defaults),
    repeatPenalty: options.number('repeat_penalty', {min: 0.01, max: 100}) ?? defaultSampling.repeatPenalty,
    presencePenalty: options.number('presence_penalty', penalty) ?? defaultSampling.presencePenalty,
    frequencyPenalty: options.number('frequency_penalty', penalty) ?? defaultSampling.frequencyPenalty,
    repeatLastN: options.integer('repeat_last_n', {min: -1}) ?? defaultSampling.repeatLastN,
    logitBias: defaultSampling.logitBias,
  }
}

/** The lowest 32 bits of the seed; -1 selects a random one. */
function readSeed(options: Fields, defaults: OllamaDefaults): number {
  const seed = options.integer('seed') ?? -1
  return (seed === -1 ? defaults.seed() : seed) >>> 0
}

/** -1 and -2: until the context is full; 0: the default. */
function readMaxTokens(options: Fields, defaults: OllamaDefaults): number | undefined {
  const count = options.integer('num_predict', {min: -2}) ?? 0
  if (count < 0) return undefined
  return count === 0 ? defaults.maxTokens : count
}
