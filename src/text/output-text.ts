import {Detokenizer} from './detokenizer.js'
import {StopMatcher} from './stop-matcher.js'
import type {Tokenizer} from './tokenizer.js'

/**
 * The text of one generation: tokens go in, text that is settled comes out. Characters are never cut, and neither a
 * stop string nor anything after it is let out.
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

  /** What was held back, when no more tokens come. */
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
