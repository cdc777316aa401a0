import {logSumExp} from './log-probabilities.js'
import {mostLikely} from './most-likely.js'

export interface BeamHypothesis {
  tokens: readonly number[]
  /** Log-probability of each token. */
  logprobs: readonly number[]
  /** Sum of the log-probabilities, including that of the end token. */
  logprob: number
}

export interface BeamStep {
  /** Next token of each row. */
  tokens: number[]
  /** Row of the previous step that each row continues. */
  sources: number[]
}

/**
 * State of a beam search. The rows are the `width` best unfinished hypotheses. A hypothesis that ends leaves the beam,
 * and the search is done after `width` of them. Source: the beam search of openai/whisper, with patience 1.
 */
export class BeamSearch {
  readonly #width: number
  readonly #end: number
  #rows: BeamHypothesis[] = [{tokens: [], logprobs: [], logprob: 0}]
  readonly #finished: BeamHypothesis[] = []

  constructor(width: number, end: number) {
    this.#width = width
    this.#end = end
  }

  get done(): boolean {
    return this.#rows.length === 0 || this.#finished.length >= this.#width
  }

  /** Tokens of the unfinished hypotheses, one list per row. */
  get rows(): readonly (readonly number[])[] {
    return this.#rows.map(({tokens}) => tokens)
  }

  /** Selects the hypotheses to continue from the processed logits of each row, `[vocabulary]`. */
  advance(logits: readonly Float32Array[]): BeamStep {
    const candidates = logits.flatMap((row, source) => this.#candidates(row, source))
    candidates.sort((a, b) => b.logprob - a.logprob || a.source - b.source)
    const next: typeof candidates = []
    for (const candidate of candidates) {
      if (next.length === this.#width) break
      if (candidate.token === this.#end) this.#finish(candidate.source, candidate.logprob)
      else next.push(candidate)
    }
    this.#rows = next.map((candidate) => this.#extended(candidate))
    return {tokens: next.map(({token}) => token), sources: next.map(({source}) => source)}
  }

  /**
   * Up to `width` hypotheses, best first by log-probability per token. If too few have ended, unfinished hypotheses are
   * added.
   */
  hypotheses(): BeamHypothesis[] {
    const missing = this.#width - this.#finished.length
    const open = [...this.#rows].sort((a, b) => b.logprob - a.logprob).slice(0, Math.max(0, missing))
    return [...this.#finished, ...open].sort((a, b) => meanLogprob(b) - meanLogprob(a))
  }

  #candidates(logits: Float32Array, source: number): {source: number; token: number; logprob: number}[] {
    const total = logSumExp(logits)
    const before = this.#rows[source]?.logprob ?? 0
    return Array.from(mostLikely(logits, this.#width + 1), (token) => ({
      source,
      token,
      logprob: before + logits[token]! - total,
    }))
  }

  #extended({source, token, logprob}: {source: number; token: number; logprob: number}): BeamHypothesis {
    const {tokens, logprobs, logprob: before} = this.#rows[source] as BeamHypothesis
    return {tokens: [...tokens, token], logprobs: [...logprobs, logprob - before], logprob}
  }

  #finish(source: number, logprob: number): void {
    const {tokens, logprobs} = this.#rows[source] as BeamHypothesis
    if (this.#finished.length < this.#width) this.#finished.push({tokens, logprobs, logprob})
  }
}

/** Log-probability per token, including the end token. */
export const meanLogprob = ({tokens, logprob}: Pick<BeamHypothesis, 'tokens' | 'logprob'>): number =>
  logprob / (tokens.length + 1)
