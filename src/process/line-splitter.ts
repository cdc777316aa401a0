import type {OutputSource} from './kept-output.js'

/** A longer line is passed on in parts, characters. */
const maxLineLength = 4096

/** Splits the streams of a program into lines. A carriage return ends a line, too: programs redraw their progress with it. */
export class LineSplitter {
  readonly #onLine: (source: OutputSource, line: string) => void
  readonly #open: Record<OutputSource, string> = {stdout: '', stderr: ''}

  constructor(onLine: (source: OutputSource, line: string) => void) {
    this.#onLine = onLine
  }

  add(source: OutputSource, text: string): void {
    const lines = (this.#open[source] + text).split(/\r?\n|\r(?!$)/)
    const last = lines.pop() ?? ''
    for (const line of lines) this.#onLine(source, line)
    this.#open[source] = last.length > maxLineLength ? '' : last
    if (last.length > maxLineLength) this.#onLine(source, last)
  }

  /** Passes on lines without an end. */
  end(): void {
    for (const source of ['stdout', 'stderr'] as const) {
      const line = this.#open[source].trimEnd()
      this.#open[source] = ''
      if (line !== '') this.#onLine(source, line)
    }
  }
}
