/** Sampling, beam search and log-probabilities, shared by the language and speech models. */
export {type BeamHypothesis, BeamSearch, meanLogprob} from './beam-search.js'
export {logProbabilities, logSumExp} from './log-probabilities.js'
export {argmax} from './most-likely.js'
export {defaultSampling, type SamplingOptions} from './options.js'
export {randomSource} from './random.js'
export {createSampler, type Sampler} from './sampler.js'
