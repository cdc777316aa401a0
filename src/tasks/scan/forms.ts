import {endAfter, endOfLine, endOfMultiline, endOfQuoted, type Lexer, type Span} from './spans.js'

/** A comment, a string, or a token of code that contains no comment or string although it looks like one. */
export interface Form {
  kind: 'comment' | 'string' | 'code'
  /** Source of the pattern that starts the form, without capture groups. Its matches have a bounded length. */
  open: string
  /** Offset after the form. `from` is the offset after `opener`, the text that the pattern matched. */
  end: (text: string, from: number, opener: string) => number
}

/** A lexer for a language whose comments and strings do not depend on what precedes them. Earlier forms win. */
export function lexerOf(forms: readonly Form[]): Lexer {
  const source = forms.map(({open}) => `(${open})`).join('|')
  return (text) => {
    const spans: Span[] = []
    const opener = new RegExp(source, 'gm')
    for (let match = opener.exec(text); match !== null; match = opener.exec(text)) {
      const {kind, end} = forms[match.indexOf(match[0], 1) - 1]!
      const after = end(text, opener.lastIndex, match[0])
      if (kind !== 'code') spans.push({kind, start: match.index, end: after})
      opener.lastIndex = after
    }
    return spans
  }
}

/** A token that is skipped. */
export const token = (open: string): Form => ({kind: 'code', open, end: (_, from) => from})

export const lineComment = (open: string): Form => ({kind: 'comment', open, end: endOfLine})

export const blockComment = (open: string, close: string): Form => ({
  kind: 'comment',
  open,
  end: (text, from) => endAfter(text, close, from),
})

/** A block comment that can contain block comments. */
export const nestedComment = (open: string, close: string): Form => {
  const escaped = [open, close].map((mark) => mark.replaceAll(/[*{}|]/g, '\\$&'))
  return {
    kind: 'comment',
    open: escaped[0]!,
    end: (text, from) => {
      const marks = new RegExp(escaped.join('|'), 'g')
      marks.lastIndex = from
      for (let depth = 1; depth > 0; ) {
        const mark = marks.exec(text)?.[0]
        if (mark === undefined) return text.length
        depth += mark === open ? 1 : -1
      }
      return marks.lastIndex
    },
  }
}

/** A string with backslash escapes that ends at the end of the line at the latest. */
export const quoted = (quote: string, open = quote): Form => ({
  kind: 'string',
  open,
  end: (text, from) => endOfQuoted(text, quote, from),
})

/** A string with backslash escapes that can contain line feeds. */
export const multiline = (quote: string, open = quote): Form => ({
  kind: 'string',
  open,
  end: (text, from) => endOfMultiline(text, quote, from),
})

/** A string without escapes; `close` is a function of the opener where it depends on it. */
export const raw = (open: string, close: string | ((opener: string) => string)): Form => ({
  kind: 'string',
  open,
  end: (text, from, opener) => endAfter(text, typeof close === 'string' ? close : close(opener), from),
})

/** A string in which a doubled quote is a quote. */
export const doubled = (quote: string, open = quote): Form => ({
  kind: 'string',
  open,
  end: (text, from) => {
    let end = endAfter(text, quote, from)
    while (text[end] === quote) end = endAfter(text, quote, end + 1)
    return end
  },
})

/** A complete character literal, which distinguishes it from a lifetime or a type variable such as `'a`. */
export const character: Form = {
  ...token(String.raw`'(?:[^'\\\n]|[\ud800-\udbff][\udc00-\udfff]|\\[^\n][^'\n]{0,9})'`),
  kind: 'string',
}

/** A here document with an upper-case delimiter; the rest of the line that starts it counts as part of it. */
export const hereDocument: Form = {
  kind: 'string',
  open: String.raw`<<[-~<]?[ ]?["']?[A-Z_]{2,40}\b`,
  end: (text, from, opener) => {
    const close = new RegExp(`\\n[ \\t]*${/[A-Z_]+$/.exec(opener)?.[0]}\\b`, 'g')
    close.lastIndex = from
    return close.exec(text) === null ? text.length : close.lastIndex
  },
}
