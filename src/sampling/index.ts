/** From logits to the next token, and to how likely it was. Shared by everything that generates tokens. */
export {type BeamHypothesis, BeamSearch, type BeamStep, meanLogprob} from './beam-search.js'
export {logProbabilities, logSumExp, type TokenLogProbability} from './log-probabilities.js'
export {argmax} from './most-likely.js'
export {defaultSampling, type SamplingOptions} from './options.js'
export {type RandomSource, randomSource} from './random.js'
export {createSampler, type Sampler} from './sampler.js'
