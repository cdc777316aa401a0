/** Text that can be returned now, and whether a stop string was found. */
export interface StopStep {
  text: string
  stopped: boolean
}

/**
 * Finds stop strings in streamed text. Text that may be the start of a stop string is held back; the stop string and all
 * text after it are dropped.
 */
export class StopMatcher {
  readonly #stops: readonly string[]
  #held = ''

  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop !== '')
  }

  push(piece: string): StopStep {
    const text = this.#held + piece
    const found = this.#stops.map((stop) => text.indexOf(stop)).filter((at) => at !== -1)
    if (found.length > 0) {
      this.#held = ''
      return {text: text.slice(0, Math.min(...found)), stopped: true}
    }
    const keep = Math.max(0, ...this.#stops.map((stop) => overlap(text, stop)))
    this.#held = text.slice(text.length - keep)
    return {text: text.slice(0, text.length - keep), stopped: false}
  }

  /** Returns the text held back, after the last piece. */
  flush(): string {
    const held = this.#held
    this.#held = ''
    return held
  }
}

/** Length of the longest suffix of `text` that is a proper prefix of `stop`. */
function overlap(text: string, stop: string): number {
  for (let length = Math.min(text.length, stop.length - 1); length > 0; length--)
    if (text.endsWith(stop.slice(0, length))) return length
  return 0
}
