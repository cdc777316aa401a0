import {highest, logSumExpAbove} from './log-probabilities.js'

/** What a decoder run knows of the next token of one row. */
export interface KnownLogits {
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
  readonly #tokens: readonly number[] | undefined
  readonly #text: number
  readonly #whole: KnownLogits['whole']
  #restTotal: number
  #ceiling: number
  #isDoubtful = false

  constructor({values, tokens, text, restTotal, ceiling, whole}: KnownLogits) {
    this.values = values
    this.#tokens = tokens
    this.#text = text
    this.#restTotal = restTotal
    this.#ceiling = ceiling
    this.#whole = whole
  }

  copy(): TokenLogits {
    return new TokenLogits({
      values: this.values.slice(),
      tokens: this.#tokens,
      text: this.#text,
      restTotal: this.#restTotal,
      ceiling: this.#ceiling,
      whole: this.#whole,
    })
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

  /** Excludes the tokens before `to`, which is at least the number of text tokens, or all text. */
  excludeText(to = this.#text): void {
    this.values.fill(-Infinity, 0, to)
    this.#restTotal = -Infinity
    this.#ceiling = -Infinity
  }

  /** Excludes the tokens before `to` because others have this logit together; doubtful if unknown ones could be higher. */
  excludeTextBelow(logit: number, to: number): void {
    this.#isDoubtful ||= this.#ceiling >= logit
    this.excludeText(to)
  }

  /** The highest logit of the tokens before `end`, which is at least the number of text tokens. */
  highestBefore(end: number): number {
    const {values} = this
    if (this.#tokens === undefined) return highest(values.subarray(0, end))
    let most = highest(values.subarray(this.#text, end))
    for (const token of this.#tokens) if (values[token]! > most) most = values[token]!
    return most
  }

  highest(): number {
    return this.highestBefore(this.values.length)
  }

  /** Log-sum-exp of all tokens that are not excluded. @param most the highest logit */
  logSumExpAbove(most: number): number {
    const {values} = this
    if (this.#tokens === undefined) return logSumExpAbove(values, most)
    let total = Math.exp(logSumExpAbove(values.subarray(this.#text), most) - most) + Math.exp(this.#restTotal - most)
    for (const token of this.#tokens) total += Math.exp(values[token]! - most)
    return most + Math.log(total)
  }

  /** Ids of the `count` largest logits, largest first, lower ids first on ties. */
  mostLikely(count: number): number[] {
    const {values} = this
    const found: number[] = []
    const offer = (token: number) => {
      const value = values[token]!
      if (!Number.isFinite(value)) return
      let at = found.length
      while (
        at > 0 &&
        (values[found[at - 1]!]! < value || (values[found[at - 1]!] === value && found[at - 1]! > token))
      )
        at--
      if (at === count) return
      found.splice(at, 0, token)
      if (found.length > count) found.pop()
    }
    const first = this.#tokens === undefined ? 0 : this.#text
    for (const token of this.#tokens ?? []) offer(token)
    for (let token = first; token < values.length; token++) {
      if (found.length === count && values[token]! < values[found[count - 1]!]!) continue
      offer(token)
    }
    return found
  }

  /** True if the `count` largest logits are certainly those of `mostLikely`, and exact. */
  isCertain(count: number): boolean {
    if (this.#isDoubtful) return false
    if (this.#ceiling === -Infinity) return true
    const last = this.mostLikely(count)[count - 1]
    return last !== undefined && this.values[last]! > this.#ceiling
  }

  /** The exact logits of all tokens, before any exclusion. */
  whole(): TokenLogits {
    return this.#whole === undefined ? this : TokenLogits.of(this.#whole())
  }
}
