import {SvcError} from '../../errors/index.js'

/** Reads a grammar text from left to right; faults name line and column, both from 1. */
export class Scanner {
  readonly source: string
  readonly #comment: RegExp
  at = 0

  /** @param comment sticky expression of a comment up to the end of its line */
  constructor(source: string, comment: RegExp) {
    this.source = source
    this.#comment = comment
  }

  get isAtEnd(): boolean {
    return this.at >= this.source.length
  }

  /** Skips blanks and comments, and line breaks if wanted. */
  space(lines: boolean): void {
    const blank = lines ? /\s+/y : /[^\S\r\n]+/y
    while (this.match(blank) !== undefined || this.match(this.#comment) !== undefined);
  }

  /** Reads a fixed text. */
  take(text: string): boolean {
    if (!this.source.startsWith(text, this.at)) return false
    this.at += text.length
    return true
  }

  expect(text: string): void {
    if (!this.take(text)) throw this.fault(`${text} is missing`)
  }

  /** Reads what a sticky expression matches here. */
  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.source)?.[0]
    this.at += found?.length ?? 0
    return found
  }

  /** Reads one character. */
  character(): string {
    const point = this.source.codePointAt(this.at)
    if (point === undefined) throw this.fault('the text ends too early')
    const character = String.fromCodePoint(point)
    this.at += character.length
    return character
  }

  fault(fault: string, at = this.at): SvcError {
    const lines = this.source.slice(0, at).split('\n')
    return new SvcError('grammar_invalid', {line: lines.length, column: lines.at(-1)!.length + 1, fault})
  }
}
