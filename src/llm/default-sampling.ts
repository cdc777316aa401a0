import {defaultSampling, type SamplingOptions} from '../sampling/index.js'
import type {ModelDefaults, ModelParameters} from '../weights/index.js'
import type {GenerateRequest} from './request.js'

const names = {
  temperature: 'temperature',
  top_k: 'topK',
  top_p: 'topP',
  min_p: 'minP',
  repeat_penalty: 'repeatPenalty',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  repeat_last_n: 'repeatLastN',
} as const satisfies Partial<Record<keyof ModelParameters, keyof SamplingOptions>>

type Declared = Pick<SamplingOptions, (typeof names)[keyof typeof names]>

/** The sampling options that parameters of a model declare. */
export const declaredSampling = (parameters: ModelParameters): Partial<Declared> =>
  Object.fromEntries(
    Object.entries(names).flatMap(([parameter, option]) => {
      const value = parameters[parameter as keyof typeof names]
      return value === undefined ? [] : [[option, option === 'topK' ? Math.max(0, value) : value]]
    }),
  )

/** Maximum tokens of a reply that parameters declare; undefined until the context is full. @param fallback if none do */
export function declaredMaxTokens(
  {num_predict: count = 0}: ModelParameters,
  fallback: number | undefined,
): number | undefined {
  if (count < 0) return undefined
  return count === 0 ? fallback : count
}

/** A seed that parameters declare; undefined for a random one. */
export const declaredSeed = ({seed = -1}: ModelParameters): number | undefined => (seed === -1 ? undefined : seed >>> 0)

/**
 * The parts of a request that the user and the model declare.
 * @param fallback for what neither declares; without `maxTokens`, until the context is full
 */
export const declaredRequest = (
  {parameters, stop = []}: Pick<ModelDefaults, 'parameters' | 'stop'>,
  {temperature, topK, topP, maxTokens}: Pick<SamplingOptions, 'temperature' | 'topK' | 'topP'> & {maxTokens?: number},
): Pick<GenerateRequest, 'maxTokens' | 'stop' | 'sampling'> => ({
  maxTokens: declaredMaxTokens(parameters, maxTokens),
  stop,
  sampling: {
    ...defaultSampling,
    temperature,
    topK,
    topP,
    ...declaredSampling(parameters),
    seed: declaredSeed(parameters) ?? Math.floor(Math.random() * 2 ** 32),
  },
})
