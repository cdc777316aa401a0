/** Reads a text that grows: it yields where it needs more. */
export type Reader<T = void> = Generator<void, T, void>

/** A text that grows while it is read. */
export class Input {
  #text = ''
  #offset = 0
  /** Whether nothing follows the text. */
  hasEnded = false

  append(text: string): void {
    this.#text += text
  }

  /** Characters that have been read. */
  get offset(): number {
    return this.#offset
  }

  /** The text that has not been read. */
  get rest(): string {
    return this.#text
  }

  /** Reads so many characters of the rest. */
  take(length: number): string {
    const taken = this.#text.slice(0, length)
    this.#text = this.#text.slice(length)
    this.#offset += taken.length
    return taken
  }

  /** Whether the rest begins with a text; decided as soon as possible. At the end, a beginning of it is not enough. */
  *startsWith(text: string): Reader<boolean> {
    for (;;) {
      if (this.#text.length >= text.length || this.hasEnded) return this.#text.startsWith(text)
      if (!text.startsWith(this.#text)) return false
      yield
    }
  }

  /** Waits for a character; undefined at the end. */
  *next(): Reader<string | undefined> {
    while (this.#text === '' && !this.hasEnded) yield
    return this.#text[0]
  }

  /** Reads a text that follows. */
  *skip(text: string): Reader<boolean> {
    if (!(yield* this.startsWith(text))) return false
    this.take(text.length)
    return true
  }

  /** Reads the one of several texts that follows; undefined if none does. None is the beginning of another one. */
  *skipOne<T extends string>(texts: readonly T[]): Reader<T | undefined> {
    for (const text of texts) if (yield* this.skip(text)) return text
    return undefined
  }

  /** Reads up to a text, and the text itself; undefined if it never follows. */
  *until(text: string): Reader<string | undefined> {
    const read = yield* this.upTo(text)
    if (read !== undefined) this.take(text.length)
    return read
  }

  /** Reads up to a text; undefined if it never follows. */
  *upTo(text: string): Reader<string | undefined> {
    for (let from = 0; ; ) {
      const at = this.#text.indexOf(text, from)
      if (at !== -1) return this.take(at)
      if (this.hasEnded) return undefined
      from = Math.max(0, this.#text.length - text.length + 1)
      yield
    }
  }
}

/** Length of the longest end of a text that is the beginning of another one. */
export function overlap(text: string, begin: string): number {
  for (let length = Math.min(text.length, begin.length - 1); length > 0; length--)
    if (text.endsWith(begin.slice(0, length))) return length
  return 0
}
