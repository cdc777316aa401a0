import {endAfter, endOfLine, type Lexer, type Span} from './spans.js'

/** Longest inline code that is recognised, characters. */
const maxInlineLength = 2000

/** Finds the comments, fenced code and inline code of Markdown. An unterminated fence or comment ends with the text. */
export const lexMarkdown: Lexer = (text) => {
  const spans: Span[] = []
  const add = (kind: 'comment' | 'string', start: number, end: number): number => {
    spans.push({kind, start, end})
    return end
  }
  const fence = /[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}(?=[^`\n]*(?:\n|$))|~{3,})/y
  const token = /\n|<!--|\\.|`+/g
  for (let at = 0, isLineStart = true; at < text.length; ) {
    fence.lastIndex = at
    const marker = isLineStart ? fence.exec(text)?.[1] : undefined
    if (marker !== undefined) {
      at = add('string', at, endOfFence(text, marker, at))
      continue
    }
    token.lastIndex = at
    const match = token.exec(text)
    if (match === null) return spans
    const {0: mark, index: start} = match
    at = start + mark.length
    isLineStart = mark === '\n'
    if (mark === '<!--') at = add('comment', start, endAfter(text, '-->', at))
    else if (mark.startsWith('`')) {
      const end = endOfInline(text, mark, at)
      if (end !== undefined) at = add('string', start, end)
    }
  }
  return spans
}

/** Offset of the line after the fence that closes the one on the line of `from`. */
function endOfFence(text: string, marker: string, from: number): number {
  const close = /^[ \t>]*(`{3,}|~{3,})[ \t\r]*$/
  for (let at = endOfLine(text, from) + 1; at < text.length; ) {
    const end = endOfLine(text, at)
    const closing = close.exec(text.slice(at, end))?.[1]
    at = end + 1
    if (closing?.startsWith(marker) === true) return Math.min(at, text.length)
  }
  return text.length
}

/** Offset after the run of backticks that closes inline code; undefined if the paragraph ends first. */
function endOfInline(text: string, marker: string, from: number): number | undefined {
  for (const {0: run, index} of text.slice(from, from + maxInlineLength).matchAll(/`+|\n[ \t]*\r?\n/g)) {
    if (!run.startsWith('`')) return undefined
    if (run.length === marker.length) return from + index + run.length
  }
  return undefined
}
