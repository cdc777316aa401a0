import type {Tokenizer} from './tokenizer.js'

/** Preceding tokens that affect how a token is decoded, such as its leading space. */
const contextTokens = 6
/** A UTF-8 character has at most four bytes, so at most three tokens can be incomplete. */
const maxPending = 3
const replacement = '\uFFFD'

/** Converts tokens to text one by one. */
export interface IncrementalDecoder {
  /** Returns the text that the token completes; it may be empty. */
  push(token: number): string
  /** Returns the pending text, with invalid characters as U+FFFD. */
  flush(): string
}

/**
 * Decodes tokens to exactly their bytes, whatever precedes them. A tokenizer's own decoder may omit a space at the start of a
 * text. Special tokens have no text.
 */
export function createByteDecoder(
  {bytes}: Pick<Tokenizer, 'bytes'>,
  specials: ReadonlySet<number>,
): IncrementalDecoder {
  const decoder = new TextDecoder('utf-8', {ignoreBOM: true})
  return {
    push: (token) => (specials.has(token) ? '' : decoder.decode(bytes(token), {stream: true})),
    flush: () => decoder.decode(),
  }
}

/**
 * Decodes tokens incrementally; the pieces concatenate to the decoding of all tokens. A character that spans tokens is
 * held back until it is complete. The cost per token does not grow with the text.
 */
export class Detokenizer implements IncrementalDecoder {
  readonly #tokenizer: Tokenizer
  /** Context tokens, whose text has been returned, then pending tokens. */
  #tokens: number[]
  #settled: number

  /** @param prompt tokens before the first pushed token; only the last few are used */
  constructor(tokenizer: Tokenizer, prompt: readonly number[] = []) {
    this.#tokenizer = tokenizer
    this.#tokens = prompt.slice(-contextTokens)
    this.#settled = this.#tokens.length
  }

  push(token: number): string {
    this.#tokens.push(token)
    const text = this.#tokenizer.decode(this.#tokens)
    if (!text.endsWith(replacement)) return this.#settle(this.#tokens.length, text)
    const pending = this.#tokens.length - this.#settled
    if (pending <= maxPending) return ''
    // These bytes are invalid UTF-8, not an incomplete character: release those that cannot be completed.
    const end = this.#tokens.length - maxPending
    return this.#settle(end, this.#tokenizer.decode(this.#tokens.slice(0, end)))
  }

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
