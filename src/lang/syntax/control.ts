import type {Arm, Expr, ForExpr, IfExpr, MatchExpr, Pattern, Stmt} from './ast.js'
import type {Cursor} from './cursor.js'
import {foreignLoop} from './foreign.js'
import {above, built, heightOf} from './heights.js'
import {parsePattern} from './patterns.js'
import {T} from './token.js'

/** Parses an expression in a head, which is followed by a block. */
export function parseHead(c: Cursor): Expr {
  const before = c.inHead
  c.inHead = true
  const head = c.expr()
  c.inHead = before
  return head
}

/** ifexpr = "if" expr block [ "else" ( ifexpr | block ) ] ; */
export function ifExpr(c: Cursor): IfExpr | Expr {
  const {start} = c
  c.next()
  const condition = parseHead(c)
  const consequent = c.block()
  let otherwise: Expr | undefined
  if (c.take(T.else)) {
    if (c.kind !== T.if) otherwise = c.block()
    else if (c.enter()) {
      otherwise = ifExpr(c)
      c.leave()
    }
  }
  const depth = Math.max(above(condition, consequent), above(otherwise))
  return built(c, {kind: 'if', condition, consequent, otherwise, depth, start, end: c.lastEnd})
}

/** matchexpr = "match" expr "{" { pattern [ "if" expr ] "=>" armbody [ "," ] } "}" ; */
export function matchExpr(c: Cursor): MatchExpr | Expr {
  const {start} = c
  c.next()
  const subject = parseHead(c)
  const arms: Arm[] = []
  if (c.expect(T.braceOpen))
    c.within(true, () => {
      while (c.kind !== T.braceClose && c.kind !== T.eof) {
        if (c.take(T.comma) || c.take(T.semicolon)) continue
        const before = c.at
        const arm = parseArm(c)
        if (arm !== undefined) arms.push(arm)
        else if (!recoverArm(c, before)) break
      }
      c.expect(T.braceClose)
    })
  const depth = arms.reduce((height, arm) => Math.max(height, heightOf(arm.body), arm.guard?.depth ?? 0), subject.depth)
  return built(c, {kind: 'match', subject, arms, depth: depth + 1, start, end: c.lastEnd})
}

function parseArm(c: Cursor): Arm | undefined {
  const {start} = c
  const pattern = parsePattern(c)
  if (pattern === undefined) return undefined
  let guard: Expr | undefined
  if (c.take(T.if)) {
    const before = c.inGuard
    c.inGuard = true
    guard = c.expr()
    c.inGuard = before
  }
  const arrow = c.span
  if (c.take(T.arrow))
    c.report('parse.arrow_deprecated', arrow, "'->' is a deprecated spelling of '=>' in a match arm.", {
      fixes: [{label: "Write '=>'", ...arrow, replacement: '=>'}],
    })
  else if (!c.expect(T.fatArrow)) return undefined
  const body = parseArmBody(c)
  if (!endsArm(c)) {
    c.report('parse.expected_newline', c.span, `Expected a new line or , before ${c.found()}.`)
    c.skipToLineEnd()
  }
  return {pattern, guard, body, start, end: c.lastEnd}
}

const endsArm = (c: Cursor) =>
  c.kind === T.braceClose ||
  c.kind === T.comma ||
  c.kind === T.semicolon ||
  c.kind === T.eof ||
  c.onNewLine ||
  c.peek(-1) === T.braceClose

function recoverArm(c: Cursor, before: number): boolean {
  if (c.at === before) c.next()
  c.skipToLineEnd()
  return c.kind !== T.eof
}

const armEnds = [T.comma, T.braceClose]

/** armbody = expr | "return" [ expr ] | "break" | "continue" | block ; */
function parseArmBody(c: Cursor): Stmt {
  const {kind, start} = c
  const leave = parseLeave(c, armEnds)
  if (leave !== undefined) return leave
  const value = kind === T.braceOpen && (c.isEmptyAhead || !c.isObjectAhead) ? c.block() : c.expr()
  return {kind: 'expr', value, start, end: c.lastEnd}
}

/** "return" [ expr ] | "break" | "continue" ; `ends`: tokens that, like a line end, end a `return` without value. */
export function parseLeave(c: Cursor, ends: readonly number[]): Stmt | undefined {
  const {kind, start} = c
  if (kind === T.return) {
    c.next()
    const isBare = c.onNewLine || ends.includes(c.kind)
    const value = isBare ? undefined : c.expr()
    return {kind: 'return', value, start, end: c.lastEnd}
  }
  if (kind !== T.break && kind !== T.continue) return undefined
  c.next()
  return {kind: kind === T.break ? 'break' : 'continue', start, end: c.lastEnd}
}

/** forvar = "_" | name | "(" pattern { "," pattern } ")" ; */
function loopVariable(c: Cursor): Pattern | undefined {
  if (c.kind === T.wildcard || c.kind === T.parenOpen) return parsePattern(c)
  const name = c.name()
  return name && {kind: 'bind', name, start: name.start, end: name.end}
}

/** forexpr = "for" forvar [ "," forvar ] "in" expr block ; */
export function forExpr(c: Cursor): ForExpr | Expr {
  const {start} = c
  c.next()
  const foreign = foreignLoop(c, start)
  if (foreign !== undefined) return foreign
  const item = loopVariable(c) ?? {...c.span, kind: 'any'}
  const index = c.take(T.comma) ? loopVariable(c) : undefined
  if (!c.expect(T.in, 'Write for item in items { ... }.') && c.isContextual('of')) c.next()
  const list = parseHead(c)
  const body = c.block()
  return built(c, {kind: 'for', item, index, list, body, depth: above(list, body), start, end: c.lastEnd})
}
