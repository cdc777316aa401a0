import type {Expr, LambdaExpr, Param} from './ast.js'
import type {Cursor} from './cursor.js'
import {aboveAll, built, missing} from './heights.js'
import {isName, T} from './token.js'
import {parseType} from './types.js'

/** lambda = "fn" "(" params ")" [ "to" type ] expr | name "=>" expr | "(" params ")" "=>" expr ; */
export function fnLambda(c: Cursor): Expr {
  const {start} = c
  c.next()
  const {params} = parseParams(c)
  const result = c.take(T.to) ? parseType(c) : undefined
  return lambda(c, start, params, result)
}

export function arrowLambda(c: Cursor): Expr {
  const {start} = c
  if (!c.enter()) return missing(c)
  const name = c.takeName()
  c.next()
  const node = lambda(c, start, [{name, type: undefined, fallback: undefined, start: name.start, end: name.end}])
  c.leave()
  return node
}

export function parenLambda(c: Cursor): Expr {
  const {start} = c
  const {params} = parseParams(c)
  c.expect(T.fatArrow)
  return lambda(c, start, params)
}

function lambda(c: Cursor, start: number, params: readonly Param[], result?: LambdaExpr['result']): Expr {
  const body = c.kind === T.braceOpen && c.isEmptyAhead ? c.block() : c.expr()
  const depth = aboveAll(params, (param) => param.fallback, body.depth)
  return built(c, {kind: 'lambda', params, result, body, depth, start, end: c.lastEnd})
}

/** Whether `=>` follows the matching closing parenthesis. */
export function isLambdaAhead(c: Cursor): boolean {
  const first = c.peek(1)
  if (first !== T.parenClose && !isName(first)) return false
  const {at} = c
  c.skipBalanced()
  const found = c.kind === T.fatArrow
  c.at = at
  return found && !c.inGuard
}

/** params = [ param { "," param } [ "," ] ] ; param = name [ ":" type ] [ "=" expr ] ; in parentheses. */
export function parseParams(c: Cursor): {params: Param[]; broken: boolean} {
  return c.expect(T.parenOpen) ? c.within(false, readParams) : {params: [], broken: true}
}

function readParams(c: Cursor): {params: Param[]; broken: boolean} {
  const params = c.items(T.parenClose, parseParam)
  if (c.expect(T.parenClose)) return {params, broken: false}
  while (c.kind !== T.parenClose && c.kind !== T.braceOpen && c.kind !== T.eof && !c.firstOnLine) c.next()
  c.take(T.parenClose)
  return {params, broken: true}
}

function parseParam(c: Cursor): Param | undefined {
  const name = c.name()
  if (name === undefined) return undefined
  const type = c.take(T.colon) ? parseType(c) : undefined
  const fallback = c.take(T.assign) ? c.expr() : undefined
  return {name, type, fallback, start: name.start, end: c.lastEnd}
}
