/** From logits to the next token, and to how likely it was. Shared by everything that generates tokens. */
export {type BeamHypothesis, BeamSearch, meanLogprob} from './beam-search.js'
export {logProbabilities, logSumExp} from './log-probabilities.js'
export {argmax} from './most-likely.js'
export {defaultSampling, type SamplingOptions} from './options.js'
export {randomSource} from './random.js'
export {createSampler, type Sampler} from './sampler.js'
