export interface SamplingOptions {
  /** 0 always selects the most likely token. */
  temperature: number
  /** Number of most likely tokens to sample from; 0 is all. */
  topK: number
  /** Sample from the smallest set of tokens with at least this total probability; 1 is all. */
  topP: number
  /** Minimum probability relative to the most likely token, 0 to 1; 0 is off. */
  minP: number
  /** 32-bit seed. */
  seed: number
  /** Divides the positive logits of used tokens, and multiplies negative ones; 1 is off; undefined: that of the model. */
  repeatPenalty: number | undefined
  /** Subtracted once from the logit of each used token. */
  presencePenalty: number
  /** Subtracted from the logit of each used token for each use. */
  frequencyPenalty: number
  /** Number of last tokens that penalties consider, including the prompt's: 0 is none, -1 is all. */
  repeatLastN: number
  /** Added to logits by token id; -100 or less bans a token, 100 or more forces it. */
  logitBias: Readonly<Record<number, number>>
}

/** Defaults for requests without options. */
export const defaultSampling: SamplingOptions = {
  temperature: 0.7,
  topK: 40,
  topP: 0.9,
  minP: 0,
  seed: 0,
  repeatPenalty: undefined,
  presencePenalty: 0,
  frequencyPenalty: 0,
  repeatLastN: 64,
  logitBias: {},
}
