/** Runs the work of short recordings together, and that of a long one alone, in the order of the calls. */
export class RecordingTurns {
  /** Ends with the last work that ran alone. */
  #alone: Promise<unknown> = Promise.resolve()
  /** The works since then. */
  #together = new Set<Promise<unknown>>()

  run<T>(isAlone: boolean, work: () => Promise<T>): Promise<T> {
    const before = isAlone ? Promise.all([this.#alone, ...this.#together]) : this.#alone
    const result = before.then(work)
    const ended = result.then(
      () => undefined,
      () => undefined,
    )
    if (isAlone) {
      this.#alone = ended
      this.#together = new Set()
    } else {
      const together = this.#together
      together.add(ended)
      void ended.then(() => together.delete(ended))
    }
    return result
  }
}
