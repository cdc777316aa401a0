import type {AssignOperator, Block, Pattern, Stmt} from './ast.js'
import {parseHead, parseLeave} from './control.js'
import {appended, type Cursor} from './cursor.js'
import {foreignStatements} from './heads.js'
import {heightOf} from './heights.js'
import {parsePattern} from './patterns.js'
import {isName, T} from './token.js'
import {parseType} from './types.js'

/** block = "{" { stmt } "}" ; */
export function parseBlock(c: Cursor): Block {
  const {start} = c
  let statements = none
  if (c.enter()) {
    if (c.expect(T.braceOpen, blockHint(c))) {
      statements = c.within(true, readStatements)
      c.expectClosing(T.braceClose, start)
    }
    c.leave()
  }
  let depth = 1
  for (const stmt of statements) depth = Math.max(depth, heightOf(stmt) + 1)
  return {kind: 'block', statements, depth, start, end: Math.max(start, c.lastEnd)}
}

/** What to write for a body without braces. */
const blockHint = (c: Cursor) =>
  c.kind === T.colon ? 'Write { ... } instead of a colon and indentation.' : 'Write the body in braces: { ... }.'

const none: readonly Stmt[] = []

function readStatements(c: Cursor): readonly Stmt[] {
  let statements: Stmt[] = []
  while (c.kind !== T.braceClose && c.kind !== T.eof) {
    if (c.take(T.semicolon)) continue
    if (startsDeclaration(c)) break
    const before = c.at
    statements = appended(statements, parseStatement(c))
    if (endsStatement(c)) {
      if (c.at === before && c.kind !== T.braceClose) c.next()
      continue
    }
    if (c.at > before) c.report('parse.expected_newline', c.span, `Expected a new line or ; before ${c.found()}.`)
    else c.next()
    c.skipToLineEnd()
  }
  return statements
}

/** Statements on one line must be separated by a semicolon or a closing brace. */
const endsStatement = (c: Cursor) =>
  c.firstOnLine || c.kind === T.semicolon || c.kind === T.braceClose || c.kind === T.eof || c.peek(-1) === T.braceClose

/** A declaration at the start of a line inside a block means that the closing brace is missing. */
const startsDeclaration = (c: Cursor) =>
  c.firstOnLine &&
  (c.kind === T.decorator ||
    c.kind === T.pub ||
    (c.kind === T.fn && c.peek(1) !== T.parenOpen) ||
    (c.kind === T.type && c.peek(1) === T.upper))

const statementEnds = [T.braceClose, T.semicolon, T.eof]

/**
 * stmt = "let" [ "mut" ] pattern [ ":" type ] "=" expr
 *      | "return" [ expr ] | "while" expr block | "loop" block | "break" | "continue"
 *      | expr [ ( "=" | "+=" | "-=" | "*=" | "/=" ) expr ] ;
 */
function parseStatement(c: Cursor): Stmt {
  const {kind, start} = c
  switch (kind) {
    case T.let:
      return letStatement(c)
    case T.while: {
      c.next()
      const condition = parseHead(c)
      const body = parseBlock(c)
      return {kind: 'while', condition, body, start, end: c.lastEnd}
    }
    case T.loop: {
      c.next()
      const body = parseBlock(c)
      return {kind: 'loop', body, start, end: c.lastEnd}
    }
    default:
      return parseLeave(c, statementEnds) ?? foreignStatement(c) ?? expressionStatement(c)
  }
}

/** Reports a statement of another language, and skips it: a word before a name, a string or a brace on its line. */
function foreignStatement(c: Cursor): Stmt | undefined {
  const isForeign = c.kind === T.lower || c.kind === T.import || c.kind === T.with
  const hint = isForeign ? foreignStatements.get(c.text()) : undefined
  const next = c.peek(1)
  const isStatement = isName(next) || next === T.string || next === T.braceOpen || isBranch(c)
  if (hint === undefined || !isStatement || c.tokens.newlines[c.at + 1] === 1) return undefined
  const {span} = c
  c.report('parse.unexpected_token', span, `Expected a statement, found ${c.found()}.`, {hints: [hint]})
  c.next()
  c.skipToLineEnd()
  return {kind: 'expr', value: {kind: 'missing', depth: 0, ...span}, ...span}
}

/** Whether this is `switch (x) {` or `elif true {`. */
function isBranch(c: Cursor): boolean {
  if (c.text() === 'elif') return true
  if (c.text() !== 'switch' || c.peek(1) !== T.parenOpen) return false
  const {at} = c
  c.next()
  c.skipBalanced()
  const found = c.kind === T.braceOpen && !c.firstOnLine
  c.at = at
  return found
}

function letStatement(c: Cursor): Stmt {
  const {start} = c
  c.next()
  const mutable = c.take(T.mut)
  const pattern: Pattern = parsePattern(c) ?? {kind: 'any', start: c.start, end: c.start}
  const type = c.take(T.colon) ? parseType(c) : undefined
  const value = c.expect(T.assign) ? c.expr() : ({kind: 'missing', depth: 0, start: c.start, end: c.start} as const)
  return {kind: 'let', mutable, pattern, type, value, start, end: c.lastEnd}
}

const assignments = new Map<number, AssignOperator>([
  [T.assign, '='],
  [T.plusAssign, '+'],
  [T.minusAssign, '-'],
  [T.starAssign, '*'],
  [T.slashAssign, '/'],
])

function expressionStatement(c: Cursor): Stmt {
  const {start} = c
  const value = c.kind === T.braceOpen && c.isEmptyAhead ? parseBlock(c) : c.expr()
  const operator = c.onNewLine ? undefined : assignments.get(c.kind)
  if (operator === undefined) return {kind: 'expr', value, start, end: Math.max(start, c.lastEnd)}
  c.next()
  const assigned = c.expr()
  return {kind: 'assign', target: value, operator, value: assigned, start, end: c.lastEnd}
}
