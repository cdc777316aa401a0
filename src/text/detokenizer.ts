import type {Tokenizer} from './tokenizer.js'

/** Tokens of context that decide how the next one is spelt (a leading blank, say). */
const contextTokens = 6
/** A UTF-8 character has at most four bytes, so at most three tokens can wait for its end. */
const maxPending = 3
const replacement = '\uFFFD'

/**
 * Turns tokens into text one at a time: the pieces add up to the decoding of all tokens. A character whose bytes are
 * spread over tokens is held back until it is whole. The cost of a token does not grow with the text.
 */
export class Detokenizer {
  readonly #tokenizer: Tokenizer
  /** Tokens whose text is out, for context, then tokens that wait. */
  #tokens: number[]
  #settled: number

  /** @param prompt tokens before the first one that is pushed; only the last few are looked at */
  constructor(tokenizer: Tokenizer, prompt: readonly number[] = []) {
    this.#tokenizer = tokenizer
    this.#tokens = prompt.slice(-contextTokens)
    this.#settled = this.#tokens.length
  }

  /** Text that the token completes; often one word, sometimes nothing. */
  push(token: number): string {
    this.#tokens.push(token)
    const text = this.#tokenizer.decode(this.#tokens)
    if (!text.endsWith(replacement)) return this.#settle(this.#tokens.length, text)
    const pending = this.#tokens.length - this.#settled
    if (pending <= maxPending) return ''
    // Not the start of a character but bytes that are none: let go of those that cannot belong to one.
    const end = this.#tokens.length - maxPending
    return this.#settle(end, this.#tokenizer.decode(this.#tokens.slice(0, end)))
  }

  /** What is still held back, broken characters as U+FFFD. */
  flush(): string {
    if (this.#settled === this.#tokens.length) return ''
    return this.#settle(this.#tokens.length, this.#tokenizer.decode(this.#tokens))
  }

  #settle(end: number, text: string): string {
    const before = this.#tokenizer.decode(this.#tokens.slice(0, this.#settled))
    const start = Math.max(0, end - contextTokens)
    this.#tokens = this.#tokens.slice(start)
    this.#settled = end - start
    return text.slice(before.length)
  }
}
