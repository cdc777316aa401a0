import type {Name, Pattern} from './ast.js'
import type {Cursor} from './cursor.js'
import {stringValue} from './lexer.js'
import {isName, T} from './token.js'

/**
 * pattern = "_" | name | [ "-" ] INT | [ "-" ] FLOAT | STRING | "true" | "false"
 *         | UPPER [ "(" [ pattern { "," pattern } ] ")" ] | "(" pattern { "," pattern } ")" ;
 */
export function parsePattern(c: Cursor): Pattern | undefined {
  const {start, kind} = c
  if (!c.enter()) return undefined
  try {
    if (c.take(T.wildcard)) return {kind: 'any', start, end: c.lastEnd}
    if (kind === T.upper) {
      const name = c.takeName()
      const args = c.kind === T.parenOpen && !c.onNewLine ? patternList(c) : undefined
      return {kind: 'variant', name, args, start, end: c.lastEnd}
    }
    if (kind === T.parenOpen) return {kind: 'tuple', items: patternList(c), start, end: c.lastEnd}
    if (kind === T.minus || kind === T.int || kind === T.float) return numberPattern(c, start)
    if (kind === T.string) {
      const value = stringValue(c.text())
      c.next()
      return {kind: 'literal', literal: 'str', value, start, end: c.lastEnd}
    }
    if (kind === T.true || kind === T.false) {
      c.next()
      return {kind: 'literal', literal: 'bool', value: kind === T.true, start, end: c.lastEnd}
    }
    if (isName(kind)) return bind(c.takeName())
    const isOpen = kind === T.braceOpen || kind === T.bracketOpen
    c.unexpected(
      'a pattern',
      isOpen ? 'Only tuples have patterns: let (a, b) = pair. Read a field as in value.name.' : undefined,
    )
    if (isOpen && c.skipBalanced()) return {kind: 'any', start, end: c.lastEnd}
    return undefined
  } finally {
    c.leave()
  }
}

const bind = (name: Name): Pattern => ({kind: 'bind', name, start: name.start, end: name.end})

function numberPattern(c: Cursor, start: number): Pattern | undefined {
  const sign = c.take(T.minus) ? -1 : 1
  const {kind} = c
  if (kind !== T.int && kind !== T.float) {
    c.expected('a number')
    return undefined
  }
  const value = sign * Number(c.text())
  c.next()
  return {kind: 'literal', literal: kind === T.int ? 'int' : 'float', value, start, end: c.lastEnd}
}

function patternList(c: Cursor): Pattern[] {
  return c.within(false, () => {
    c.expect(T.parenOpen)
    return c.list(T.parenClose, parsePattern)
  })
}
