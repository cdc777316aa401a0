import {endAfter, endOfLine, endOfQuoted, type Lexer, type Span} from './spans.js'

/** Words after which a slash starts a regular expression. */
const beforeOperand = new Set(
  'return typeof case in of delete void throw new else do instanceof yield await default extends'.split(' '),
)
/** Words whose parentheses are followed by a statement. */
const conditions = new Set(['if', 'while', 'for', 'with'])

/** Finds the comments, strings, templates and regular expressions of JavaScript and TypeScript. */
export const lexScript: Lexer = (text) => {
  const spans: Span[] = []
  const token = /\/\/|\/\*|["'`/(){}]/g
  /** For each open brace, whether it is the `${` of a template. */
  const braces: boolean[] = []
  /** For each open parenthesis, whether a statement follows it. */
  const parentheses: boolean[] = []
  /** The last word or character of the code so far. */
  let last = ''
  /** No regular expression ends before this offset. */
  let slashesDivideUntil = 0

  const add = (kind: 'comment' | 'string', start: number, end: number): number => {
    spans.push({kind, start, end})
    if (kind === 'string') last = '"'
    return end
  }
  const addTemplate = (start: number, from: number): number => {
    const end = endOfTemplatePart(text, from)
    add('string', start, end)
    if (end - 2 >= from && text.startsWith('${', end - 2)) {
      braces.push(true)
      last = '{'
    }
    return end
  }
  const addRegex = (start: number, hasNewline: boolean): number => {
    if (start < slashesDivideUntil || !canStartRegex(last, hasNewline, text[start + 1])) return start + 1
    const end = endOfRegex(text, start + 1)
    if (end !== undefined) return add('string', start, end)
    slashesDivideUntil = endOfLine(text, start)
    return start + 1
  }

  for (let at = 0; ; ) {
    token.lastIndex = at
    const match = token.exec(text)
    if (match === null) return spans
    const {0: mark, index: start} = match
    const gap = text.slice(at, start)
    const code = gap.trimEnd()
    if (code !== '') last = /[\w$]+$/.exec(code.slice(-16))?.[0] ?? code.slice(-1)
    at = start + mark.length
    if (mark === '//') at = add('comment', start, endOfLine(text, start))
    else if (mark === '/*') at = add('comment', start, endAfter(text, '*/', at))
    else if (mark === '`') at = addTemplate(start, at)
    else if (mark === '/') at = addRegex(start, gap.slice(code.length).includes('\n'))
    else if (mark === '"' || mark === "'") at = add('string', start, endOfQuoted(text, mark, at))
    else if (mark === '}' && braces.pop() === true) at = addTemplate(start, at)
    else {
      if (mark === '{') braces.push(false)
      if (mark === '(') parentheses.push(conditions.has(last))
      last = mark === ')' && parentheses.pop() === true ? 'if()' : mark
    }
  }
}

/** Offset after the closing backtick or after `${`. */
function endOfTemplatePart(text: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '`') return i + 1
    else if (text[i] === '$' && text[i + 1] === '{') return i + 2
  }
  return text.length
}

/**
 * True if a slash after `last` starts a regular expression. After a brace it does only on a new line, because the brace
 * can end a value. `</` and `/>` are tags.
 */
function canStartRegex(last: string, isOnNewLine: boolean, next: string | undefined): boolean {
  if (last === 'if()' || beforeOperand.has(last)) return true
  if (last === '}') return isOnNewLine && next !== '>'
  return !/[\w$)\]"<]$/.test(last)
}

/** Offset after a regular expression, undefined if it does not end on the line. */
function endOfRegex(text: string, from: number): number | undefined {
  let isInClass = false
  for (let i = from; i < text.length && text[i] !== '\n'; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '[') isInClass = true
    else if (text[i] === ']') isInClass = false
    else if (text[i] === '/' && !isInClass) return i + 1
  }
  return undefined
}
