import type {
  Arg,
  Arm,
  BinaryOperator,
  CallExpr,
  Entry,
  Expr,
  ForExpr,
  IfExpr,
  LambdaExpr,
  MatchExpr,
  Name,
  Param,
  Stmt,
} from './ast.js'
import type {Cursor} from './cursor.js'
import {stringValue} from './lexer.js'
import {parsePattern} from './patterns.js'
import {isName, isWord, T} from './token.js'
import {parseType} from './types.js'

/** Binary operators from loose to tight; all are left-associative. */
const operators: readonly (readonly [kind: number, power: number, operator: BinaryOperator])[] = [
  [T.pipeForward, 1, '|>'],
  [T.or, 2, 'or'],
  [T.and, 3, 'and'],
  [T.with, 3, 'with'],
  [T.is, 4, 'is'],
  [T.equal, 4, 'is'],
  [T.isnt, 4, 'isnt'],
  [T.notEqual, 4, 'isnt'],
  [T.less, 5, '<'],
  [T.greater, 5, '>'],
  [T.lessEqual, 5, '<='],
  [T.greaterEqual, 5, '>='],
  [T.plus, 6, '+'],
  [T.minus, 6, '-'],
  [T.star, 7, '*'],
  [T.slash, 7, '/'],
  [T.percent, 7, '%'],
]
const powers = new Uint8Array(128)
const spelled: BinaryOperator[] = []
for (const [kind, power, operator] of operators) {
  powers[kind] = power
  spelled[kind] = operator
}

/** These may begin a line and still continue the one before. */
const continuesLine = (kind: number) => kind === T.pipeForward || kind === T.and || kind === T.or

/** How high a tree of operators and calls in a row may be. */
const maxHeight = 400

const missing = (c: Cursor): Expr => ({kind: 'missing', depth: 0, start: c.start, end: c.start})

/** A node of some height, unless that is too much for the later stages. */
function built<E extends Expr>(c: Cursor, node: E): E | Expr {
  if (node.depth <= maxHeight) return node
  c.deep({start: node.end, end: node.end})
  return missing(c)
}

/** The height of a node above one or two others. */
const above = (a: Expr | undefined, b?: Expr): number => {
  const height = a === undefined ? 0 : a.depth
  return (b !== undefined && b.depth > height ? b.depth : height) + 1
}

/** The height of a node above many. */
function aboveAll<C>(children: readonly C[], exprOf: (child: C) => Expr | undefined, least = 0): number {
  let height = least
  for (const child of children) {
    const depth = exprOf(child)?.depth ?? 0
    if (depth > height) height = depth
  }
  return height + 1
}

/** expr = (* Pratt, operands are *) unary ; */
export function parseExpr(c: Cursor, power = 1): Expr {
  let left = parseUnary(c)
  for (;;) {
    const {kind} = c
    const found = powers[kind] as number
    if (found === 0 || found < power || (c.onNewLine && !continuesLine(kind))) return left
    c.next()
    const right = parseExpr(c, found + 1)
    const operator = spelled[kind] as BinaryOperator
    const {start} = left
    left = built(c, {kind: 'binary', operator, left, right, depth: above(left, right), start, end: c.lastEnd})
  }
}

/** An expression in the head of a construct whose block follows. */
export function parseHead(c: Cursor): Expr {
  const before = c.inHead
  c.inHead = true
  const head = parseExpr(c)
  c.inHead = before
  return head
}

/** unary = ( "not" | "!" | "-" ) unary | postfix ; */
function parseUnary(c: Cursor): Expr {
  const {kind, start} = c
  if (kind !== T.not && kind !== T.bang && kind !== T.minus) return parsePostfix(c)
  if (!c.enter()) return missing(c)
  c.next()
  const operand = parseUnary(c)
  c.leave()
  const operator = kind === T.minus ? '-' : 'not'
  return built(c, {kind: 'unary', operator, operand, depth: above(operand), start, end: c.lastEnd})
}

/** postfix = primary { "(" args ")" | "." word [ "(" args ")" ] | "[" expr "]" | "?" } ; */
function parsePostfix(c: Cursor): Expr {
  let left = parsePrimary(c)
  for (;;) {
    const {start} = left
    switch (c.kind) {
      case T.dot: {
        c.next()
        if (!isWord(c.kind)) {
          c.expected('a name')
          return left
        }
        const member = c.takeName()
        left = built(c, {kind: 'member', object: left, member, depth: above(left), start, end: c.lastEnd})
        break
      }
      case T.parenOpen: {
        if (c.onNewLine) return left
        left = call(c, left)
        break
      }
      case T.bracketOpen: {
        if (c.onNewLine) return left
        if (!c.enter()) return missing(c)
        c.next()
        const index = c.within(false, () => parseExpr(c))
        c.expect(T.bracketClose)
        c.leave()
        left = built(c, {kind: 'index', object: left, index, depth: above(left, index), start, end: c.lastEnd})
        break
      }
      case T.question: {
        if (c.onNewLine) return left
        const mark = c.span
        c.next()
        left = built(c, {kind: 'try', operand: left, mark, depth: above(left), start, end: c.lastEnd})
        break
      }
      default:
        return left
    }
  }
}

/** args = [ arg { "," arg } [ "," ] ] ; arg = [ word "=" ] expr ; */
function call(c: Cursor, callee: Expr): Expr {
  if (!c.enter()) return missing(c)
  c.next()
  const args: Arg[] = []
  c.within(false, () => {
    while (c.kind !== T.parenClose && c.kind !== T.eof) {
      const {start} = c
      const name = isWord(c.kind) && c.peek(1) === T.assign ? c.takeName() : undefined
      if (name !== undefined) c.next()
      const before = c.at
      const value = parseExpr(c)
      args.push({name, value, start, end: c.lastEnd})
      if (c.take(T.comma)) continue
      if (c.kind !== T.parenClose && c.at === before) break
      break
    }
    c.expect(T.parenClose)
  })
  c.leave()
  const depth = aboveAll(args, (arg) => arg.value, callee.depth)
  const node: CallExpr = {kind: 'call', callee, args, depth, start: callee.start, end: c.lastEnd}
  return built(c, node)
}

/**
 * primary = INT | FLOAT | DEC | STRING | "true" | "false" | name | "(" ")" | "(" expr ")" | tuple | list
 *         | [ UPPER ] object | block | ifexpr | matchexpr | forexpr | lambda ;
 */
function parsePrimary(c: Cursor): Expr {
  const {kind, start} = c
  switch (kind) {
    case T.int:
    case T.float: {
      const value = Number(c.text())
      c.next()
      return {kind: kind === T.int ? 'int' : 'float', value, depth: 0, start, end: c.lastEnd}
    }
    case T.dec: {
      const value = c.text().slice(0, -3)
      c.next()
      return {kind: 'dec', value, depth: 0, start, end: c.lastEnd}
    }
    case T.string: {
      const value = stringValue(c.text())
      c.next()
      return {kind: 'str', value, depth: 0, start, end: c.lastEnd}
    }
    case T.true:
    case T.false:
      c.next()
      return {kind: 'bool', value: kind === T.true, depth: 0, start, end: c.lastEnd}
  }
  if (isName(kind)) return nameOrRecord(c)
  if (!c.enter()) return missing(c)
  const node = parseConstruct(c)
  c.leave()
  return node
}

function nameOrRecord(c: Cursor): Expr {
  const {kind, start} = c
  if (c.peek(1) === T.fatArrow && !c.inGuard) return arrowLambda(c)
  const name = c.takeName()
  if (
    kind === T.upper &&
    c.kind === T.braceOpen &&
    !c.onNewLine &&
    isObjectAhead(c) &&
    !(c.inHead && isEmptyAhead(c))
  ) {
    if (!c.enter()) return missing(c)
    const object = parseObject(c, name)
    c.leave()
    return object
  }
  return {kind: 'name', name, depth: 0, start, end: c.lastEnd}
}

function parseConstruct(c: Cursor): Expr {
  switch (c.kind) {
    case T.parenOpen:
      return isLambdaAhead(c) ? parenLambda(c) : parenthesised(c)
    case T.bracketOpen:
      return list(c)
    case T.braceOpen:
      return isObjectAhead(c) ? parseObject(c, undefined) : c.block()
    case T.if:
      return ifExpr(c)
    case T.match:
      return matchExpr(c)
    case T.for:
      return forExpr(c)
    case T.fn:
      return fnLambda(c)
    default:
      c.unexpected('an expression')
      return missing(c)
  }
}

/** `{` begins an object when `}`, or a word or a string with a colon, comes next. */
export function isObjectAhead(c: Cursor): boolean {
  const next = c.peek(1)
  return next === T.braceClose || ((isWord(next) || next === T.string) && c.peek(2) === T.colon)
}

export const isEmptyAhead = (c: Cursor): boolean => c.peek(1) === T.braceClose

/** "(" ")" | "(" expr ")" | "(" expr "," { expr "," } [ expr ] ")" */
function parenthesised(c: Cursor): Expr {
  const {start} = c
  c.next()
  const items: Expr[] = []
  let commas = 0
  c.within(false, () => {
    while (c.kind !== T.parenClose && c.kind !== T.eof) {
      items.push(parseExpr(c))
      if (!c.take(T.comma)) break
      commas++
    }
    c.expect(T.parenClose)
  })
  const [only] = items
  if (only === undefined) return {kind: 'unit', depth: 0, start, end: c.lastEnd}
  // The parentheses belong to the expression, so that an error about it shows them.
  if (commas === 0) return only.kind === 'missing' ? only : {...only, start, end: c.lastEnd}
  return built(c, {kind: 'tuple', items, depth: aboveAll(items, (item) => item), start, end: c.lastEnd})
}

/** "[" [ expr { "," expr } [ "," ] ] "]" */
function list(c: Cursor): Expr {
  const {start} = c
  c.next()
  const items: Expr[] = []
  c.within(false, () => {
    while (c.kind !== T.bracketClose && c.kind !== T.eof) {
      items.push(parseExpr(c))
      if (!c.take(T.comma)) break
    }
    c.expect(T.bracketClose)
  })
  return built(c, {
    kind: 'list',
    items,
    depth: aboveAll(items, (item) => item),
    start,
    end: c.lastEnd,
  })
}

/** object = "{" [ entry { "," entry } [ "," ] ] "}" ; entry = ( word | STRING ) ":" expr ; */
function parseObject(c: Cursor, type: Name | undefined): Expr {
  const {start} = type ?? c
  c.next()
  const entries: Entry[] = []
  c.within(false, () => {
    while (c.kind !== T.braceClose && c.kind !== T.eof) {
      const key = objectKey(c)
      if (key === undefined || !c.expect(T.colon)) break
      const value = parseExpr(c)
      entries.push({key, value, start: key.start, end: c.lastEnd})
      if (!c.take(T.comma)) break
    }
    c.expect(T.braceClose)
  })
  const depth = aboveAll(entries, (entry) => entry.value)
  return built(c, {kind: 'object', type, entries, depth, start, end: c.lastEnd})
}

function objectKey(c: Cursor): Name | undefined {
  if (isWord(c.kind)) return c.takeName()
  if (c.kind !== T.string) {
    c.expected('a name')
    return undefined
  }
  const key = {...c.span, text: stringValue(c.text())}
  c.next()
  return key
}

/** ifexpr = "if" expr block [ "else" ( ifexpr | block ) ] ; */
function ifExpr(c: Cursor): IfExpr | Expr {
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
function matchExpr(c: Cursor): MatchExpr | Expr {
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
  const depth = arms.reduce(
    (height, arm) => Math.max(height, stmtDepth(arm.body), arm.guard?.depth ?? 0),
    subject.depth,
  )
  return built(c, {kind: 'match', subject, arms, depth: depth + 1, start, end: c.lastEnd})
}

const stmtDepth = (stmt: Stmt) => ('value' in stmt && stmt.value !== undefined ? stmt.value.depth : 0)

function parseArm(c: Cursor): Arm | undefined {
  const {start} = c
  const pattern = parsePattern(c)
  if (pattern === undefined) return undefined
  let guard: Expr | undefined
  if (c.take(T.if)) {
    const before = c.inGuard
    c.inGuard = true
    guard = parseExpr(c)
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
    skipToLineEnd(c)
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
  skipToLineEnd(c)
  return c.kind !== T.eof
}

/** Past the rest of the line, brackets that are open on it taken whole; stops before a closing brace. */
export function skipToLineEnd(c: Cursor): void {
  while (c.kind !== T.eof && c.kind !== T.braceClose && c.kind !== T.semicolon && !c.firstOnLine) {
    if (c.kind === T.braceOpen || c.kind === T.parenOpen || c.kind === T.bracketOpen) c.skipBalanced()
    else c.next()
  }
}

/** armbody = expr | "return" [ expr ] | "break" | "continue" | block ; */
function parseArmBody(c: Cursor): Stmt {
  const {kind, start} = c
  if (kind === T.return) {
    c.next()
    const bare = c.onNewLine || c.kind === T.comma || c.kind === T.braceClose
    const value = bare ? undefined : parseExpr(c)
    return {kind: 'return', value, start, end: c.lastEnd}
  }
  if (kind === T.break || kind === T.continue) {
    c.next()
    return {kind: kind === T.break ? 'break' : 'continue', start, end: c.lastEnd}
  }
  const value = kind === T.braceOpen && (isEmptyAhead(c) || !isObjectAhead(c)) ? c.block() : parseExpr(c)
  return {kind: 'expr', value, start, end: c.lastEnd}
}

/** forexpr = "for" name [ "," name ] "in" expr block ; */
function forExpr(c: Cursor): ForExpr | Expr {
  const {start} = c
  c.next()
  const unknown = {...c.span, text: '_'}
  const loopName = () => (c.kind === T.wildcard ? c.takeName() : c.name())
  const item = loopName() ?? unknown
  const index = c.take(T.comma) ? loopName() : undefined
  c.expect(T.in)
  const list = parseHead(c)
  const body = c.block()
  return built(c, {kind: 'for', item, index, list, body, depth: above(list, body), start, end: c.lastEnd})
}

/** lambda = "fn" "(" params ")" [ "to" type ] expr | name "=>" expr | "(" params ")" "=>" expr ; */
function fnLambda(c: Cursor): Expr {
  const {start} = c
  c.next()
  const {params} = parseParams(c)
  const result = c.take(T.to) ? parseType(c) : undefined
  return lambda(c, start, params, result)
}

function arrowLambda(c: Cursor): Expr {
  const {start} = c
  if (!c.enter()) return missing(c)
  const name = c.takeName()
  c.next()
  const node = lambda(c, start, [{name, type: undefined, fallback: undefined, start: name.start, end: name.end}])
  c.leave()
  return node
}

function parenLambda(c: Cursor): Expr {
  const {start} = c
  const {params} = parseParams(c)
  c.expect(T.fatArrow)
  return lambda(c, start, params)
}

function lambda(c: Cursor, start: number, params: readonly Param[], result?: LambdaExpr['result']): Expr {
  const body = c.kind === T.braceOpen && isEmptyAhead(c) ? c.block() : parseExpr(c)
  const depth = aboveAll(params, (param) => param.fallback, body.depth)
  return built(c, {kind: 'lambda', params, result, body, depth, start, end: c.lastEnd})
}

/** Whether `=>` follows the parenthesis that closes this one. */
function isLambdaAhead(c: Cursor): boolean {
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
  const params: Param[] = []
  if (!c.expect(T.parenOpen)) return {params, broken: true}
  const broken = c.within(false, () => {
    while (c.kind !== T.parenClose && c.kind !== T.eof) {
      const name = c.name()
      if (name === undefined) break
      const type = c.take(T.colon) ? parseType(c) : undefined
      const fallback = c.take(T.assign) ? parseExpr(c) : undefined
      params.push({name, type, fallback, start: name.start, end: c.lastEnd})
      if (!c.take(T.comma)) break
    }
    if (c.expect(T.parenClose)) return false
    while (c.kind !== T.parenClose && c.kind !== T.braceOpen && c.kind !== T.eof && !c.firstOnLine) c.next()
    c.take(T.parenClose)
    return true
  })
  return {params, broken}
}
