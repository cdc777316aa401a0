/** Text that can be returned now, and whether a stop string was found. */
export interface StopStep {
  text: string
  stopped: boolean
}

/**
 * Finds stop strings in streamed text. Text that may be the start of a stop string is held back; the stop string and all
 * text after it are dropped. The names of special tokens are matched, too, but not returned. A stop string that begins
 * within such a name ends the text before it.
 */
export class StopMatcher {
  readonly #stops: readonly string[]
  #held = ''
  /** Parts of the held text that are names. */
  #names: {from: number; to: number}[] = []
  #released = 0
  #found: string | undefined

  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop !== '')
  }

  /** Characters before the held text or, at the end, before the stop string; with those of names. */
  get released(): number {
    return this.#released
  }

  /** Characters of all pieces, with those of names. */
  get length(): number {
    return this.#released + this.#held.length
  }

  /** The stop string that was found first. */
  get found(): string | undefined {
    return this.#found
  }

  /** @param isName whether the piece is the name of a special token */
  push(piece: string, isName = false): StopStep {
    if (isName) this.#names.push({from: this.#held.length, to: this.#held.length + piece.length})
    this.#held += piece
    const places = this.#stops.map((stop) => ({stop, at: this.#held.indexOf(stop)})).filter(({at}) => at !== -1)
    const [first] = places.sort((a, b) => a.at - b.at)
    if (first !== undefined) {
      const {stop, at} = first
      this.#found = stop
      const within = this.#names.find(({from, to}) => from < at && at < to)
      const text = this.#release(within?.from ?? at)
      this.#held = ''
      return {text, stopped: true}
    }
    const keep = Math.max(0, ...this.#stops.map((stop) => overlap(this.#held, stop)))
    return {text: this.#release(this.#held.length - keep), stopped: false}
  }

  /** Returns the text held back, after the last piece. */
  flush(): string {
    return this.#release(this.#held.length)
  }

  #release(length: number): string {
    let [text, at] = ['', 0]
    for (const {from, to} of this.#names) {
      text += this.#held.slice(at, Math.min(Math.max(at, from), length))
      at = Math.min(to, length)
    }
    text += this.#held.slice(at, length)
    this.#held = this.#held.slice(length)
    this.#names = this.#names
      .filter(({to}) => to > length)
      .map(({from, to}) => ({from: Math.max(0, from - length), to: to - length}))
    this.#released += length
    return text
  }
}

/** Length of the longest suffix of `text` that is a proper prefix of `stop`. */
function overlap(text: string, stop: string): number {
  for (let length = Math.min(text.length, stop.length - 1); length > 0; length--)
    if (text.endsWith(stop.slice(0, length))) return length
  return 0
}
