/** Converts offsets to lines and columns; both start at 1, columns are in UTF-16 code units. */
export class Lines {
  readonly source: string
  readonly #starts: number[] = [0]

  constructor(source: string) {
    this.source = source
    for (let at = source.indexOf('\n'); at !== -1; at = source.indexOf('\n', at + 1)) this.#starts.push(at + 1)
  }

  get count(): number {
    return this.#starts.length
  }

  at(offset: number): {line: number; col: number} {
    let low = 0
    let high = this.#starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#starts[middle] as number) <= offset) low = middle
      else high = middle - 1
    }
    // A byte order mark does not count as a column.
    const start = (this.#starts[low] as number) + (low === 0 && this.source.charCodeAt(0) === 0xfeff ? 1 : 0)
    return {line: low + 1, col: Math.max(1, offset - start + 1)}
  }

  /** The offset of a position, limited to the end of its line. */
  offset(line: number, col: number): number {
    const start = this.#starts[Math.min(line, this.count) - 1] ?? 0
    const next = this.#starts[line] ?? this.source.length + 1
    return Math.min(start + col - 1, next - 1)
  }

  text(line: number): string {
    const start = this.#starts[line - 1] ?? 0
    const end = this.#starts[line] ?? this.source.length + 1
    return this.source
      .slice(start, end - 1)
      .replace(/\r$/, '')
      .replace(/^\uFEFF/, '')
  }
}
