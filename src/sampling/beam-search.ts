import type {TokenLogits} from './token-logits.js'

export interface BeamHypothesis {
  tokens: readonly number[]
  /** Log-probability of each token. */
  logprobs: readonly number[]
  /** Sum of the log-probabilities, including that of the end token. */
  logprob: number
}

/** The next tokens of one row. */
export interface BeamScores<S> {
  /** Logits that rank the next tokens. */
  logits: TokenLogits
  /** Log-sum-exp of all logits, for the rank. */
  total: number
  /** Added to the rank of all tokens. */
  offset: number
  /** Log-probability of a token, which may differ from its rank. */
  logprobOf(token: number): number
  /** State of a hypothesis that ends here. */
  state: S
  /** State behind a token. */
  after(token: number): S
}

export interface BeamStep {
  /** Next token of each row. */
  tokens: number[]
  /** Row of the previous step that each row continues. */
  sources: number[]
}

interface Row<S> extends BeamHypothesis {
  state: S
  /** Sum of the log-probabilities and of what was added to them. */
  rank: number
}

interface Candidate {
  source: number
  token: number
  rank: number
}

/** Number of tokens per row that a beam search considers: one of them may end its text. */
export const beamCandidates = (width: number): number => width + 1

/**
 * State of a beam search. The rows are the `width` best unfinished hypotheses. A hypothesis that ends leaves the beam,
 * and the search is done after `patience * width` of them. `S` is what the caller knows of a hypothesis. Source: the beam
 * search of openai/whisper.
 */
export class BeamSearch<S> {
  readonly #width: number
  readonly #enough: number
  readonly #rank: HypothesisRank
  readonly #end: number
  #rows: Row<S>[]
  readonly #finished: Row<S>[] = []

  /**
   * @param patience of Kasai et al. 2022, arXiv 2204.05424
   * @param rank of finished hypotheses, by which `hypotheses` sorts
   */
  constructor(width: number, end: number, start: S, patience: number, rank: HypothesisRank) {
    this.#width = width
    this.#enough = Math.max(1, Math.round(width * patience))
    this.#rank = rank
    this.#end = end
    this.#rows = [{tokens: [], logprobs: [], logprob: 0, rank: 0, state: start}]
  }

  get done(): boolean {
    return this.#rows.length === 0 || this.#finished.length >= this.#enough
  }

  /** The unfinished hypotheses. */
  get rows(): readonly {tokens: readonly number[]; state: S}[] {
    return this.#rows
  }

  /** Selects the hypotheses to continue from the scores of each row. */
  advance(scores: readonly BeamScores<S>[]): BeamStep {
    const candidates = scores.flatMap((row, source) => this.#candidates(row, source))
    candidates.sort((a, b) => b.rank - a.rank || a.source - b.source)
    const next: Candidate[] = []
    for (const candidate of candidates) {
      if (next.length === this.#width) break
      if (candidate.token === this.#end) this.#finish(candidate, scores)
      else next.push(candidate)
    }
    this.#rows = next.map((candidate) => this.#extended(candidate, scores))
    return {tokens: next.map(({token}) => token), sources: next.map(({source}) => source)}
  }

  /**
   * Up to `width` hypotheses, best first by their rank. If too few have ended, unfinished hypotheses are added.
   */
  hypotheses(): (BeamHypothesis & {state: S})[] {
    const missing = this.#width - this.#finished.length
    const open = [...this.#rows].sort((a, b) => b.rank - a.rank).slice(0, Math.max(0, missing))
    return [...this.#finished, ...open].sort((a, b) => this.#rank(b) - this.#rank(a)).slice(0, this.#width)
  }

  #candidates({logits, total, offset}: BeamScores<S>, source: number): Candidate[] {
    const before = (this.#rows[source]?.rank ?? 0) + offset - total
    const {values} = logits
    return logits
      .mostLikely(beamCandidates(this.#width))
      .map((token) => ({source, token, rank: before + values[token]!}))
  }

  #extended({source, token, rank}: Candidate, scores: readonly BeamScores<S>[]): Row<S> {
    const {tokens, logprobs, logprob: before} = this.#rows[source] as Row<S>
    const {logprobOf, after} = scores[source] as BeamScores<S>
    const logprob = logprobOf(token)
    return {
      tokens: [...tokens, token],
      logprobs: [...logprobs, logprob],
      logprob: before + logprob,
      rank,
      state: after(token),
    }
  }

  #finish({source, token, rank}: Candidate, scores: readonly BeamScores<S>[]): void {
    if (this.#finished.length >= this.#enough) return
    const {logprobOf, state} = scores[source] as BeamScores<S>
    const row = this.#rows[source] as Row<S>
    this.#finished.push({...row, logprob: row.logprob + logprobOf(token), rank, state})
  }
}

/** The rank of a hypothesis; the best has the highest. */
export type HypothesisRank = (hypothesis: Pick<BeamHypothesis, 'tokens' | 'logprob'>) => number

/** Ranks by the log-probability divided by a penalty of the length (Wu et al. 2016, arXiv 1609.08144). */
export const lengthPenalised =
  (exponent: number): HypothesisRank =>
  ({tokens, logprob}) =>
    logprob / ((5 + tokens.length) / 6) ** exponent

/** Log-probability per token, including the end token. */
export const meanLogprob = ({tokens, logprob}: Pick<BeamHypothesis, 'tokens' | 'logprob'>): number =>
  logprob / (tokens.length + 1)
