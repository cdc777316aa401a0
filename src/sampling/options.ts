export interface SamplingOptions {
  /** 0 takes the most likely token, always. */
  temperature: number
  /** Sample from this many of the most likely tokens; 0 from all. */
  topK: number
  /** Sample from the fewest tokens whose probabilities add up to this; 1 from all. */
  topP: number
  /** Sample from tokens at least this likely, relative to the most likely one, 0 to 1; 0 from all. */
  minP: number
  /** 32-bit seed. */
  seed: number
  /** Divides the logits of tokens that were used (multiplies negative ones); 1 does nothing. */
  repeatPenalty: number
  /** Taken from the logit of each token that was used, once. */
  presencePenalty: number
  /** Taken from the logit of each token that was used, for each use. */
  frequencyPenalty: number
  /** How many of the last tokens the penalties look at, the prompt's included: 0 none, -1 all. */
  repeatLastN: number
  /** Added to the logits of single tokens, by id; -100 and below bans one, 100 and above forces it. */
  logitBias: Readonly<Record<number, number>>
}

/** What a request that names no options is sampled with. */
export const defaultSampling: SamplingOptions = {
  temperature: 0.7,
  topK: 40,
  topP: 0.9,
  minP: 0,
  seed: 0,
  repeatPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  repeatLastN: 64,
  logitBias: {},
}
