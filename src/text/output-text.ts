import {Detokenizer} from './detokenizer.js'
import {StopMatcher} from './stop-matcher.js'
import type {Tokenizer} from './tokenizer.js'

/**
 * Converts the tokens of one generation to text incrementally. Characters are never split, and neither a stop string nor
 * any text after it is returned.
 */
export class OutputText {
  readonly #detokenizer: Detokenizer
  readonly #stops: StopMatcher
  #stopped = false

  constructor(tokenizer: Tokenizer, prompt: readonly number[], stop: readonly string[]) {
    this.#detokenizer = new Detokenizer(tokenizer, prompt)
    this.#stops = new StopMatcher(stop)
  }

  /** Whether a stop string has been reached. */
  get stopped(): boolean {
    return this.#stopped
  }

  push(token: number): string {
    return this.#match(this.#detokenizer.push(token))
  }

  /** Returns the text held back, after the last token. */
  end(): string {
    if (this.#stopped) return ''
    const text = this.#match(this.#detokenizer.flush())
    return this.#stopped ? text : text + this.#stops.flush()
  }

  #match(piece: string): string {
    const {text, stopped} = this.#stops.push(piece)
    this.#stopped = stopped
    return text
  }
}
