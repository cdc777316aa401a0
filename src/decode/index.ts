/** From logits to the next token. Shared by everything that generates tokens. */
export {type RandomSource, randomSource} from './random.js'
export {createSampler, type Sampler, type SamplingOptions} from './sampler.js'
