/** Output of work that runs while the output of earlier work is still printed: it is kept until its turn comes. */
export class OutputTurn {
  #kept: (() => unknown)[] | undefined = []

  /** Prints now, or when the turn comes. */
  print(write: () => void | Promise<void>): void | Promise<void> {
    if (this.#kept === undefined) return write()
    this.#kept.push(write)
  }

  /** Prints what was kept, in order, while the work continues, and returns its result. */
  async begin<T>(work: () => Promise<T>): Promise<T> {
    const result = work()
    const kept = this.#kept ?? []
    for (let write = kept.shift(); write !== undefined; write = kept.shift()) await write()
    this.#kept = undefined
    return result
  }
}
