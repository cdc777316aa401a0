import {TemplateError} from './budget.js'
import {rstrip, space} from './text.js'

export type TokenType =
  | 'data'
  | 'block_begin'
  | 'block_end'
  | 'variable_begin'
  | 'variable_end'
  | 'name'
  | 'string'
  | 'integer'
  | 'float'
  | 'operator'
  | 'end'

export interface Token {
  type: TokenType
  /** The text of a string literal is without quotes and escapes. */
  value: string
  line: number
}

/** Ends of tags: a minus sign trims the white space that follows; a line break after a statement or comment is dropped. */
const ends = {
  block: new RegExp(`\\+%\\}|-%\\}${space}*|%\\}\\n?`, 'y'),
  variable: new RegExp(`-\\}\\}${space}*|\\}\\}`, 'y'),
}
const commentEnd = new RegExp(`\\+#\\}|-#\\}${space}*|#\\}\\n?`, 'g')
const rawBegin = new RegExp(`\\{%[-+]?${space}*raw${space}*(?:-%\\}${space}*|%\\})`, 'y')
const rawEnd = new RegExp(`\\{%([-+]?)${space}*endraw${space}*(?:\\+%\\}|-%\\}${space}*|%\\}\\n?)`, 'g')
const opening = /\{([%{#])([-+]?)/g

const whiteSpace = new RegExp(`${space}+`, 'y')
const digits = '(?:\\d+_)*\\d+'
const literals: readonly [type: TokenType, pattern: RegExp][] = [
  // `x.0.1` reads items.
  ['float', new RegExp(`(?<!\\.)${digits}(?:(?:\\.${digits})?[eE][+-]?${digits}|\\.${digits})`, 'y')],
  ['integer', /0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0[xX](?:_?[\da-fA-F])+|[1-9](?:_?\d)*|0(?:_?0)*/y],
  ['name', /[\p{L}\p{N}\p{M}_]+/uy],
  ['string', /'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*"/y],
  ['operator', /\/\/|\*\*|[=!<>]=|[-+/*%~[\](){}<>=.:|,;]/y],
]
const closing: Readonly<Record<string, string>> = {'(': ')', '[': ']', '{': '}'}

/**
 * Splits a template into tokens with the white-space rules `trim_blocks` and `lstrip_blocks` of Jinja2, which chat
 * templates are written for.
 * @throws TemplateError
 */
export function tokenize(template: string): Token[] {
  const source = template.replaceAll(/\r\n?/g, '\n').replace(/\n$/, '')
  const tokens: Token[] = []
  let at = 0
  let line = 1
  let counted = 0
  const lineAt = (position: number) => {
    for (; counted < position; counted++) if (source[counted] === '\n') line++
    return line
  }
  const push = (type: TokenType, value: string, position: number) => tokens.push({type, value, line: lineAt(position)})
  const fail = (reason: string, position: number) => new TemplateError(`${reason} (line ${lineAt(position)})`)
  /** Emits the text before a tag. */
  const pushData = (end: number, sign: string, strips: boolean) => {
    const text = source.slice(at, end)
    const lineStart = text.lastIndexOf('\n') + 1
    const startsLine = lineStart > 0 || at === 0 || source[at - 1] === '\n'
    const data =
      sign === '-' ? rstrip(text) : sign !== '+' && strips && startsLine ? withoutIndent(text, lineStart) : text
    if (data !== '') push('data', data, at)
  }

  for (;;) {
    opening.lastIndex = at
    const match = opening.exec(source)
    if (match === null) break
    const [tag, kind, sign] = match as unknown as [string, string, string]
    pushData(match.index, sign, kind !== '{')
    at = match.index + tag.length
    if (kind === '#') {
      commentEnd.lastIndex = at
      if (commentEnd.exec(source) === null) throw fail('a comment is not closed', match.index)
      at = commentEnd.lastIndex
      continue
    }
    rawBegin.lastIndex = match.index
    if (kind === '%' && rawBegin.test(source)) {
      at = rawEnd.lastIndex = rawBegin.lastIndex
      const end = rawEnd.exec(source)
      if (end === null) throw fail('a raw block is not closed', match.index)
      pushData(end.index, end[1] as string, true)
      at = rawEnd.lastIndex
      continue
    }
    const part = kind === '%' ? 'block' : 'variable'
    push(`${part}_begin`, tag, match.index)
    lexTag(part)
  }
  const rest = source.slice(at)
  if (rest !== '') push('data', rest, at)
  push('end', '', source.length)
  return tokens

  function lexTag(part: 'block' | 'variable'): void {
    const begin = at
    const open: string[] = []
    const end = ends[part]
    for (;;) {
      whiteSpace.lastIndex = at
      if (whiteSpace.test(source)) at = whiteSpace.lastIndex
      end.lastIndex = at
      if (open.length === 0 && end.test(source)) {
        push(`${part}_end`, '', at)
        at = end.lastIndex
        return
      }
      if (at >= source.length) throw fail('a tag is not closed', begin)
      lexToken(open)
    }
  }

  function lexToken(open: string[]): void {
    for (const [type, pattern] of literals) {
      pattern.lastIndex = at
      const text = pattern.exec(source)?.[0]
      if (text === undefined) continue
      if (type === 'operator') {
        if (closing[text] !== undefined) open.push(closing[text])
        else if ([')', ']', '}'].includes(text) && open.pop() !== text) throw fail(`unexpected '${text}'`, at)
      }
      push(type, type === 'string' ? unescaped(text.slice(1, -1)) : text, at)
      at += text.length
      return
    }
    throw fail(`unexpected character ${JSON.stringify(String.fromCodePoint(source.codePointAt(at) as number))}`, at)
  }
}

const onlySpace = new RegExp(`^${space}+$`)
const withoutIndent = (text: string, lineStart: number) =>
  onlySpace.test(text.slice(lineStart)) ? text.slice(0, lineStart) : text

const escapes: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** Replaces the escapes of Python's string literals; unknown ones stay as they are. */
const unescaped = (text: string) =>
  text.replaceAll(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|([\s\S]))/g,
    (all, x?: string, u?: string, long?: string, octal?: string, other?: string) => {
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8))
      const hex = x ?? u ?? long
      if (hex === undefined) return escapes[other as string] ?? all
      const code = Number.parseInt(hex, 16)
      if (code > 0x10ffff) throw new TemplateError(`the escape ${all} is not a character`)
      return String.fromCodePoint(code)
    },
  )
