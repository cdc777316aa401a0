import {defaultSampling, type SamplingOptions} from '../../sampling/index.js'
import {Fields, maxStopLength} from '../body.js'

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
  /** Names of unknown options. */
  ignored: readonly string[]
}

const supported = [
  ...['temperature', 'top_k', 'top_p', 'min_p', 'seed', 'repeat_penalty', 'presence_penalty', 'frequency_penalty'],
  ...['repeat_last_n', 'num_predict', 'num_ctx', 'stop'],
]

/** Hardware options of other engines, and unsupported samplers: accepted for compatibility, without effect. */
const acceptedAndIgnored = [
  ...['num_keep', 'typical_p', 'tfs_z', 'mirostat', 'mirostat_tau', 'mirostat_eta', 'penalize_newline', 'numa'],
  ...['num_batch', 'num_gpu', 'main_gpu', 'low_vram', 'f16_kv', 'logits_all', 'vocab_only', 'use_mmap', 'use_mlock'],
  ...['embedding_only', 'num_thread', 'draft_num_predict'],
]

const known = new Set([...supported, ...acceptedAndIgnored])

/** Wide enough for any use, but narrow enough to keep logits finite. */
const penalty = {min: -100, max: 100}

/** @throws bad_request */
export function readOptions(body: Fields, defaults: OllamaDefaults): OllamaOptions {
  const options = body.object('options', (name) => `option "${name}"`) ?? new Fields({})
  options.integer('num_keep')
  return {
    sampling: readSampling(options, defaults),
    maxTokens: readMaxTokens(options, defaults),
    stop: options.texts('stop', {max: 64, longest: maxStopLength}) ?? [],
    numCtx: options.integer('num_ctx', {min: 1}) ?? defaults.numCtx,
    ignored: options.names.filter((name) => !known.has(name)),
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
