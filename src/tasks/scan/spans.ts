export type SpanKind = 'code' | 'comment' | 'string' | 'prose'

/** A part of a text, in UTF-16 code units. Spans of comments and strings include their delimiters. */
export interface Span {
  kind: SpanKind
  start: number
  /** Exclusive. */
  end: number
}

/** Finds the comments and strings of a text, in order and without overlap; the text between them has one kind. */
export type Lexer = (text: string) => Span[]

/** Adds the text between spans as spans of the given kind. */
export function fillGaps(spans: readonly Span[], length: number, kind: SpanKind): Span[] {
  const filled: Span[] = []
  let at = 0
  for (const span of [...spans, {kind, start: length, end: length}]) {
    if (span.start > at) filled.push({kind, start: at, end: span.start})
    if (span.end > span.start) filled.push(span)
    at = span.end
  }
  return filled
}

/** Offset of the next line feed, or of the end of the text. */
export const endOfLine = (text: string, from: number): number => indexOrEnd(text, '\n', from, 0)

/** Offset after the next occurrence of `close`, or of the end of the text. */
export const endAfter = (text: string, close: string, from: number): number =>
  indexOrEnd(text, close, from, close.length)

function indexOrEnd(text: string, wanted: string, from: number, added: number): number {
  const index = text.indexOf(wanted, from)
  return index === -1 ? text.length : index + added
}

/** Offset after a string with backslash escapes. Without its closing quote, the string ends at the end of the line. */
export const endOfQuoted = (text: string, quote: string, from: number): number => endOfString(text, quote, from, false)

/** Offset after a string with backslash escapes that can contain line feeds. */
export const endOfMultiline = (text: string, quote: string, from: number): number =>
  endOfString(text, quote, from, true)

function endOfString(text: string, quote: string, from: number, isMultiline: boolean): number {
  for (let i = from; i < text.length; i++) {
    if (text[i] === '\\') i += text.startsWith('\r\n', i + 1) ? 2 : 1
    else if (text.startsWith(quote, i)) return i + quote.length
    else if (text[i] === '\n' && !isMultiline) return i
  }
  return text.length
}
