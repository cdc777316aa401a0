/** A limit of thinking, for the thread that generates. Tags are bytes with those of marks. */
export interface ThinkingLimit {
  /** Maximum tokens of the thinking. */
  tokens: number
  open: Uint8Array
  close: Uint8Array
  /** Tokens that close the thinking. */
  closing: readonly number[]
  /** Whether the prompt ends within the thinking. */
  isThinking: boolean
}

/** Follows the thinking of a reply by its bytes, and decides when it must be closed. */
export class ThinkingBudget {
  readonly #limit: ThinkingLimit
  readonly #open: string
  readonly #close: string
  #phase: 'before' | 'within' | 'after'
  /** The beginning of the reply or, within the thinking, its end. */
  #text = ''
  #tokens = 0
  #closed = 0

  constructor(limit: ThinkingLimit) {
    this.#limit = limit
    this.#open = Buffer.from(limit.open).toString('latin1')
    this.#close = Buffer.from(limit.close).toString('latin1')
    this.#phase = limit.isThinking ? 'within' : 'before'
  }

  /** The tokens that must follow now; none if the budget is not used up. */
  get closing(): readonly number[] {
    const isDue = this.#phase === 'within' && this.#tokens >= this.#limit.tokens
    return isDue ? this.#limit.closing.slice(this.#closed) : []
  }

  accept(token: number, bytes: Uint8Array): void {
    if (this.#phase === 'after') return
    if (token === this.closing[0]) this.#closed++
    this.#text += Buffer.from(bytes).toString('latin1')
    if (this.#phase === 'before') {
      const begun = this.#text.trimStart()
      if (begun.startsWith(this.#open)) this.#phase = 'within'
      else if (!this.#open.startsWith(begun)) this.#phase = 'after'
      return
    }
    this.#tokens++
    if (this.#text.includes(this.#close)) this.#phase = 'after'
    else this.#text = this.#text.slice(-this.#close.length)
  }
}
