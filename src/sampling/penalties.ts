import type {LogitsProcessor} from './logits-processor.js'
import type {SamplingOptions} from './options.js'

export type PenaltyOptions = Pick<
  SamplingOptions,
  'repeatPenalty' | 'presencePenalty' | 'frequencyPenalty' | 'repeatLastN'
>

/**
 * Penalises tokens among the last `repeatLastN`: the repeat penalty of CTRL (arXiv 1909.05858) with the sign rule of
 * llama.cpp and Transformers, then OpenAI's presence and frequency penalties. Returns undefined if all are neutral, so
 * that a step without penalties does not read the history.
 */
export function penalties(options: PenaltyOptions): LogitsProcessor | undefined {
  const {repeatPenalty = 1, presencePenalty, frequencyPenalty, repeatLastN} = options
  const neutral = repeatPenalty === 1 && presencePenalty === 0 && frequencyPenalty === 0
  if (neutral || repeatLastN === 0) return undefined
  // Uses of each token, [vocabulary]; all zero between steps. Much faster than a Map for a history of 32,000 tokens.
  let counts = new Uint32Array()
  return (logits, history) => {
    if (counts.length !== logits.length) counts = new Uint32Array(logits.length)
    const start = repeatLastN < 0 ? 0 : Math.max(0, history.length - repeatLastN)
    for (let i = start; i < history.length; i++) counts[history[i]!]!++
    for (let i = start; i < history.length; i++) {
      const id = history[i]!
      const count = counts[id]
      // Already penalised in this loop, or outside the vocabulary.
      if (!count) continue
      counts[id] = 0
      const logit = logits[id]!
      const repeated = logit > 0 ? logit / repeatPenalty : logit * repeatPenalty
      logits[id] = repeated - presencePenalty - frequencyPenalty * count
    }
  }
}
