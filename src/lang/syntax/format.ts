import {Diagnostics} from '../diagnostics/index.js'
import {parse} from './declarations.js'
import {isWord, T, type Tokens} from './token.js'

const indentUnit = '    '

/**
 * Formats a source with the standard spacing and indentation. Preserves line breaks and comments. Returns undefined if
 * the source cannot be parsed, so that no code is lost.
 */
export function formatSource(source: string): string | undefined {
  const diagnostics = new Diagnostics()
  const {tokens} = parse(source, diagnostics)
  return diagnostics.hasErrors ? undefined : new Formatter(tokens).run()
}

interface Piece {
  text: string
  /** The token, or undefined for a comment. */
  at: number | undefined
  /** Number of line ends before it. */
  breaks: number
}

const opens = (kind: number) => kind === T.parenOpen || kind === T.bracketOpen || kind === T.braceOpen
const closes = (kind: number) => kind === T.parenClose || kind === T.bracketClose || kind === T.braceClose

class Formatter {
  readonly #tokens: Tokens
  readonly #lines: string[] = []
  #line = ''
  #indent = 0
  /** The kind of each open bracket, and the indentation of the line that opens it. */
  readonly #open: {kind: number; indent: number}[] = []
  #inIndex = false

  constructor(tokens: Tokens) {
    this.#tokens = tokens
  }

  run(): string {
    let last: Piece | undefined
    for (const piece of this.#pieces()) {
      if (last === undefined || piece.breaks > 0) this.#startLine(piece, last)
      else this.#line += this.#space(last, piece)
      this.#line += piece.text
      this.#track(piece)
      last = piece
    }
    if (this.#line !== '') this.#lines.push(this.#line)
    return this.#lines.length === 0 ? '' : `${this.#lines.join('\n')}\n`
  }

  *#pieces(): Generator<Piece> {
    const {source, count, starts, ends, comments} = this.#tokens
    let end = 0
    let nextComment = 0
    const breaksBefore = (start: number) => source.slice(end, start).split('\n').length - 1
    for (let at = 0; at < count; at++) {
      for (; comments[nextComment]?.beforeToken === at; nextComment++) {
        const comment = comments[nextComment] as {start: number; end: number}
        const text = source.slice(comment.start, comment.end).trimEnd()
        yield {text, at: undefined, breaks: breaksBefore(comment.start)}
        end = comment.end
      }
      if (at === count - 1) return
      const start = starts[at] as number
      yield {text: source.slice(start, ends[at]), at, breaks: breaksBefore(start)}
      end = ends[at] as number
    }
  }

  #kind(piece: Piece | undefined): number {
    return piece?.at === undefined ? -1 : (this.#tokens.kinds[piece.at] as number)
  }

  #startLine(piece: Piece, last: Piece | undefined): void {
    if (last !== undefined) {
      this.#lines.push(this.#line)
      const first = opens(this.#kind(last))
      if (piece.breaks > 1 && !first && !closes(this.#kind(piece))) this.#lines.push('')
    }
    this.#inIndex = false
    const around = this.#open.at(-1)
    const inner = around === undefined ? 0 : around.indent + 1
    if (around !== undefined && closes(this.#kind(piece))) this.#indent = around.indent
    else this.#indent = inner + (this.#continues(piece, last, around?.kind) ? 1 : 0)
    this.#line = indentUnit.repeat(this.#indent)
  }

  /** Whether a line continues the previous one, outside parentheses (their contents are indented anyway). */
  #continues(piece: Piece, last: Piece | undefined, around: number | undefined): boolean {
    if (around === T.parenOpen || around === T.bracketOpen) return false
    const kind = this.#kind(piece)
    // The keys `and` and `or` of conditions are no operators.
    if (piece.at !== undefined && this.#tokens.kinds[piece.at + 1] === T.colon) return false
    if (kind === T.dot || kind === T.pipeForward || kind === T.and || kind === T.or || kind === T.bar) return true
    const before = this.#kind(last)
    return before === T.assign || before === T.and || before === T.or || (before >= T.plus && before <= T.percent)
  }

  #track(piece: Piece): void {
    const kind = this.#kind(piece)
    if (opens(kind)) this.#open.push({kind, indent: this.#indent})
    else if (closes(kind)) this.#open.pop()
    else if (kind === T.decorator) this.#inIndex = piece.text.endsWith('index')
  }

  #space(last: Piece, piece: Piece): string {
    if (piece.at === undefined) return ' '
    const before = this.#kind(last)
    const kind = this.#kind(piece)
    if (before === T.textStart || before === T.textMiddle || kind === T.textMiddle || kind === T.textEnd) return ''
    if (kind === T.comma || kind === T.semicolon || kind === T.colon || kind === T.question || kind === T.dot) return ''
    if (
      before === T.dot ||
      before === T.spread ||
      before === T.bang ||
      before === T.parenOpen ||
      before === T.bracketOpen
    )
      return ''
    if (kind === T.parenClose || kind === T.bracketClose) return ''
    if (kind === T.braceClose) return before === T.braceOpen ? '' : ' '
    if (before === T.minus && this.#isSign(last.at as number)) return ''
    if (kind === T.parenOpen) return this.#isCall(before, last) ? '' : ' '
    if (kind === T.bracketOpen) return this.#isOperand(before, last.at as number) ? '' : ' '
    return ' '
  }

  /** Whether a minus has no operand before it. */
  #isSign(at: number): boolean {
    return at === 0 || !this.#isOperand(this.#tokens.kinds[at - 1] as number, at - 1)
  }

  #isOperand(kind: number, at: number): boolean {
    if ((kind >= T.int && kind <= T.textWhole) || kind === T.textEnd) return true
    if (kind === T.parenClose || kind === T.bracketClose || kind === T.question || kind === T.braceClose) return true
    if (kind === T.lower || kind === T.upper || kind === T.true || kind === T.false || kind === T.wildcard) return true
    return isWord(kind) && at > 0 && this.#tokens.kinds[at - 1] === T.dot
  }

  #isCall(before: number, last: Piece): boolean {
    if (before === T.string || before === T.braceClose) return false
    if (before === T.decorator || before === T.fn) return true
    if (this.#inIndex && (last.text === 'on' || last.text === 'where')) return false
    return (
      this.#isOperand(before, last.at as number) ||
      (before >= T.to && before <= T.import && before !== T.return && this.#isNamed(last.at as number))
    )
  }

  /** Whether a reserved word is a function name, that is, follows `fn`. */
  #isNamed(at: number): boolean {
    return at > 0 && this.#tokens.kinds[at - 1] === T.fn
  }
}
