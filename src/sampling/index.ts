/** Sampling, beam search and log-probabilities, shared by the language and speech models. */
export {
  type BeamHypothesis,
  type BeamScores,
  BeamSearch,
  beamCandidates,
  type HypothesisRank,
  lengthPenalised,
  meanLogprob,
} from './beam-search.js'
export {highest, logProbabilities, logSumExp, logSumExpAbove} from './log-probabilities.js'
export {argmax} from './most-likely.js'
export {defaultSampling, type SamplingOptions} from './options.js'
export {randomSource} from './random.js'
export {type ReplyBounds, type ReplyRules, repetitionPenalty, replyRules} from './reply-rules.js'
export {createSampler, createTopSampler, type Sampler, type TopSampler} from './sampler.js'
export {TokenLogits} from './token-logits.js'
export {type TopLogits, topLogits, topLogProbabilities} from './top-logits.js'
