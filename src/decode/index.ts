/** From logits to the next token, and to how likely it was. Shared by everything that generates tokens. */
export {logProbabilities, type TokenLogProbability} from './log-probabilities.js'
export {defaultSampling, type SamplingOptions} from './options.js'
export {type RandomSource, randomSource} from './random.js'
export {createSampler, type Sampler} from './sampler.js'
