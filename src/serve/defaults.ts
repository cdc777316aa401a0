import {declaredMaxTokens, declaredSampling, declaredSeed} from '../llm/index.js'
import type {SamplingOptions} from '../sampling/index.js'
import type {ServedModel} from './served-model.js'

/** Defaults for omitted fields of a request. */
export interface RequestDefaults {
  /** Undefined: until the context is full. */
  maxTokens: number | undefined
  /** The options that the user or the model declares; the others have the defaults of the API. */
  sampling: Partial<SamplingOptions> & Pick<SamplingOptions, 'temperature'>
  numCtx: number
  stop: readonly string[]
  /** A 32-bit seed: that of the model or a new one. */
  seed(): number
}

/** @param fallback if neither the user nor the model declares them */
export const requestDefaults = (
  {defaults: {parameters, stop = []}, contextLength}: Pick<ServedModel, 'defaults' | 'contextLength'>,
  fallback: {maxTokens: number; temperature: number},
): RequestDefaults => ({
  maxTokens: declaredMaxTokens(parameters, fallback.maxTokens),
  sampling: {temperature: fallback.temperature, ...declaredSampling(parameters)},
  numCtx: contextLength,
  stop,
  seed: () => declaredSeed(parameters) ?? Math.floor(Math.random() * 2 ** 32),
})
