import {highest, logSumExpAbove} from './log-probabilities.js'
import {mostLikely} from './most-likely.js'

/** What a decoder run knows of the next token of one row. */
interface KnownLogits {
  /** Logits `[vocabulary]`; -Infinity for text tokens that are not known. */
  values: Float32Array
  /** Ids of the text tokens that are known; undefined if all are. */
  tokens: readonly number[] | undefined
  /** Number of text tokens; all later tokens are always known. */
  text: number
  /** Log-sum-exp of the text tokens that are not known. */
  restTotal: number
  /** Upper bound of the logits of text tokens that are not known exactly. */
  ceiling: number
  /** Computes the exact logits `[vocabulary]` of this row. */
  whole: (() => Float32Array) | undefined
}

/**
 * The logits of the next token of one row: of all tokens, or of all special tokens and the most likely text tokens with
 * a bound for the others. Token rules and constraints exclude tokens by setting their logits to -Infinity.
 */
export class TokenLogits {
  /** `[vocabulary]`; -Infinity for excluded and for unknown tokens. */
  readonly values: Float32Array
  #known: KnownLogits
  #isDoubtful = false

  constructor(known: KnownLogits) {
    this.values = known.values
    this.#known = known
  }

  copy(): TokenLogits {
    return new TokenLogits({...this.#known, values: this.values.slice()})
  }

  /** Exact logits of all tokens. */
  static of(values: Float32Array): TokenLogits {
    return new TokenLogits({
      values,
      tokens: undefined,
      text: values.length,
      restTotal: -Infinity,
      ceiling: -Infinity,
      whole: undefined,
    })
  }

  /** Excludes the tokens before `to`, which is at least the number of text tokens. */
  excludeText(to: number): void {
    this.values.fill(-Infinity, 0, to)
    this.#known = {...this.#known, restTotal: -Infinity, ceiling: -Infinity}
  }

  /** Excludes the tokens before `to` because others have this logit together; doubtful if unknown ones could be higher. */
  excludeTextBelow(logit: number, to: number): void {
    this.#isDoubtful ||= this.#known.ceiling >= logit
    this.excludeText(to)
  }

  /** The highest logit of the tokens before `end`, which is at least the number of text tokens. */
  highestBefore(end: number): number {
    const {values, tokens, text} = this.#known
    if (tokens === undefined) return highest(values.subarray(0, end))
    let max = highest(values.subarray(text, end))
    for (const token of tokens) if (values[token]! > max) max = values[token]!
    return max
  }

  highest(): number {
    return this.highestBefore(this.values.length)
  }

  /** Log-sum-exp of all tokens that are not excluded. @param most the highest logit */
  logSumExpAbove(max: number): number {
    const {values, tokens, text, restTotal} = this.#known
    if (tokens === undefined) return logSumExpAbove(values, max)
    let total = Math.exp(logSumExpAbove(values.subarray(text), max) - max) + Math.exp(restTotal - max)
    for (const token of tokens) total += Math.exp(values[token]! - max)
    return max + Math.log(total)
  }

  /** Ids of the `count` largest logits, largest first, lower ids first on ties. */
  mostLikely(count: number): number[] {
    const {values, tokens, text} = this.#known
    if (tokens === undefined) return Array.from(mostLikely(values, count))
    const others = Array.from(mostLikely(values.subarray(text), count), (token) => text + token)
    return [...tokens.filter((token) => Number.isFinite(values[token])), ...others]
      .sort((a, b) => values[b]! - values[a]! || a - b)
      .slice(0, count)
  }

  /** True if the `count` largest logits are certainly those of `mostLikely`, and exact. */
  isCertain(count: number): boolean {
    if (this.#isDoubtful) return false
    const {values, tokens, text, ceiling} = this.#known
    if (ceiling === -Infinity) return true
    const isAbove = (logit: number) => logit > ceiling
    if (tokens === undefined) return values.filter(isAbove).length >= count
    const found = tokens.filter((token) => isAbove(values[token]!)).length
    return found >= count || found + values.subarray(text).filter(isAbove).length >= count
  }

  /** The exact logits of all tokens, before any exclusion. */
  whole(): TokenLogits {
    const {whole} = this.#known
    return whole === undefined ? this : TokenLogits.of(whole())
  }
}
