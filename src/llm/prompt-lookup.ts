/** Lengths of the n-grams that predict a token, tokens; longer ones predict better, shorter ones match more often. */
const orders = [8, 3] as const
const longestOrder = orders[0]
/** Most tokens that are drafted at once, and most of them after a wrong draft. */
const maxDraft = 31
const shortDraft = 4
/** Number of n-grams per length that are remembered; a power of two. 2 MiB per length. */
const capacity = 2 ** 18
/** Weight of the newest observation in a running mean. */
const recent = 0.1
/** Expected cost of a drafted token, relative to a run of one token, and how fast a measured one returns to it. */
const usualSlope = 0.1
const forgetting = 0.002
/** Least expected gain for which a draft is verified. */
const minGain = 1.05

interface Proposal {
  token: number
  /** Index of the n-gram length that predicts it. */
  order: number
}

/**
 * Drafts the continuation of a text from n-grams that occurred before, in its prompt or in other requests (prompt lookup
 * decoding, Saxena 2023). A run of the model then verifies all drafted tokens at once, which costs little more than a
 * run for one token. Drafts affect only the speed: a wrong one is discarded.
 *
 * The length of a draft maximises the expected number of tokens per time, from the measured rate of correct predictions
 * and the measured cost of longer runs. The rate is measured without verification, too, so that drafting stops where it
 * does not pay, and starts again where it does.
 */
export class PromptLookup {
  readonly #pools = orders.map((order) => new NgramPool(order))
  /** Rate of correct predictions by n-gram length. */
  readonly #rates = [0.7, 0.3]
  /** Additional cost of each drafted token in a run, relative to a run of one token. */
  #slope = usualSlope
  /** Most tokens of the next draft: doubled by a right one. */
  #max = shortDraft
  /** Duration of a run of one token, ms; 0 if unknown. */
  #plainMs = 0
  #proposals: readonly Proposal[] = []

  /** Remembers the n-grams that end at or after a position of a text. */
  learn(tokens: readonly number[], from: number): void {
    for (const pool of this.#pools) for (let i = from; i < tokens.length; i++) pool.put(tokens, i)
  }

  /** Probable next tokens of a text, at most `max`; none if their verification is not expected to pay. */
  draft(tokens: readonly number[], max: number): number[] {
    this.#proposals = this.#propose(tokens, Math.max(1, Math.min(max, this.#max)))
    let [best, bestGain] = [0, minGain]
    let [reached, expected] = [1, 1]
    for (const [i, {order}] of this.#proposals.entries()) {
      reached *= this.#rates[order] as number
      expected += reached
      const gain = expected / (1 + this.#slope * (i + 1))
      if (gain > bestGain) [best, bestGain] = [i + 1, gain]
    }
    return this.#plainMs === 0 ? [] : this.#proposals.slice(0, Math.min(best, max)).map(({token}) => token)
  }

  /**
   * Records a run after `draft`.
   * @param rows drafted tokens plus one
   * @param ms duration of the run
   * @param chosen tokens that the run added to the text
   */
  ran(rows: number, ms: number, chosen: readonly number[]): void {
    if (rows === 1) {
      this.#plainMs = this.#plainMs === 0 ? ms : mean(this.#plainMs, ms)
      // A wrong measurement must not end drafting for good.
      this.#slope = mean(this.#slope, usualSlope, forgetting)
    } else {
      this.#slope = mean(this.#slope, Math.max(0, (ms / this.#plainMs - 1) / (rows - 1)))
      this.#max = chosen.length === rows ? Math.min(2 * this.#max, maxDraft) : shortDraft
    }
    for (const [i, token] of chosen.entries()) {
      const proposal = this.#proposals[i]
      if (proposal === undefined) break
      const correct = proposal.token === token
      this.#rates[proposal.order] = mean(this.#rates[proposal.order] as number, correct ? 1 : 0)
      if (!correct) break
    }
  }

  #propose(tokens: readonly number[], max: number): Proposal[] {
    const text = tokens.slice(-longestOrder)
    const proposals: Proposal[] = []
    while (proposals.length < max) {
      const proposal = this.#next(text)
      if (proposal === undefined) break
      proposals.push(proposal)
      text.push(proposal.token)
    }
    return proposals
  }

  /** What the longest known n-gram at the end of a text predicts. */
  #next(text: readonly number[]): Proposal | undefined {
    for (const [order, pool] of this.#pools.entries()) {
      const token = pool.get(text, text.length)
      if (token !== undefined) return {token, order}
    }
    return undefined
  }
}

const mean = (old: number, value: number, weight = recent) => old + weight * (value - old)

/**
 * The token that last followed each n-gram. A hash table without chains: a newer n-gram replaces another one with the same
 * place.
 */
class NgramPool {
  readonly #order: number
  readonly #hashes = new Int32Array(capacity)
  readonly #tokens = new Int32Array(capacity).fill(-1)

  constructor(order: number) {
    this.#order = order
  }

  /** Stores the token at a position, which follows the n-gram before it. */
  put(tokens: readonly number[], position: number): void {
    if (position < this.#order) return
    const hash = this.#hash(tokens, position)
    this.#hashes[hash & (capacity - 1)] = hash
    this.#tokens[hash & (capacity - 1)] = tokens[position] as number
  }

  get(tokens: readonly number[], position: number): number | undefined {
    if (position < this.#order) return undefined
    const hash = this.#hash(tokens, position)
    const place = hash & (capacity - 1)
    const token = this.#tokens[place] as number
    return token >= 0 && this.#hashes[place] === hash ? token : undefined
  }

  /** MurmurHash3 (public domain) of the n-gram before a position. */
  #hash(tokens: readonly number[], position: number): number {
    let hash = this.#order
    for (let i = position - this.#order; i < position; i++) {
      const part = Math.imul(tokens[i] as number, 0xcc9e2d51)
      hash ^= Math.imul((part << 15) | (part >>> 17), 0x1b873593)
      hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    return hash ^ (hash >>> 16)
  }
}
