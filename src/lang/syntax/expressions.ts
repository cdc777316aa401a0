import type {Arg, BinaryOperator, CallExpr, Entry, Expr, Name} from './ast.js'
import {forExpr, ifExpr, matchExpr} from './control.js'
import type {Cursor} from './cursor.js'
import {foreignComprehension, foreignIncrement, foreignOperand, foreignSlice, foreignSuffix} from './foreign.js'
import {above, aboveAll, built, missing} from './heights.js'
import {arrowLambda, fnLambda, isLambdaAhead, parenLambda} from './lambdas.js'
import {stringValue, textValue} from './lexer.js'
import {isName, isWord, T} from './token.js'

/** Binary operators by increasing precedence; all are left-associative. */
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

/** Operators that continue the previous line if they start a line. */
const continuesLine = (kind: number) => kind === T.pipeForward || kind === T.and || kind === T.or

/** expr = (* Pratt, operands are *) unary ; */
export function parseExpr(c: Cursor, power = 1): Expr {
  let left = parseUnary(c)
  for (;;) {
    const {kind} = c
    const found = powers[kind] as number
    if (found === 0) {
      const foreign = power === 1 ? foreignSuffix(c, left) : undefined
      if (foreign === undefined) return left
      left = foreign
      continue
    }
    if (found < power || (c.onNewLine && !continuesLine(kind))) return left
    if (kind === T.plus && foreignIncrement(c)) return left
    c.next()
    const right = parseExpr(c, found + 1)
    const operator = spelled[kind] as BinaryOperator
    const {start} = left
    left = built(c, {kind: 'binary', operator, left, right, depth: above(left, right), start, end: c.lastEnd})
  }
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
        const index = c.within(false, parseIndex)
        c.expect(T.bracketClose)
        c.leave()
        left = built(c, {kind: 'index', object: left, index, depth: above(left, index), start, end: c.lastEnd})
        break
      }
      case T.question: {
        if (c.onNewLine) return left
        const mark = c.span
        if (isForeignChoice(c)) return foreignChoice(c)
        c.next()
        left = built(c, {kind: 'try', operand: left, mark, depth: above(left), start, end: c.lastEnd})
        break
      }
      case T.bang: {
        if (c.onNewLine) return left
        c.report('parse.unexpected_token', c.span, "'!' cannot follow a value.", {hints: ['Write option.unwrap().']})
        c.next()
        break
      }
      default:
        return left
    }
  }
}

/** The index of an element. */
function parseIndex(c: Cursor): Expr {
  const index = c.kind === T.colon ? missing(c) : parseExpr(c)
  foreignSlice(c)
  return index
}

/** Whether `?` or `??` precedes an operand on its line, which cannot follow the operator `?`. */
function isForeignChoice(c: Cursor): boolean {
  const ahead = c.peek(1) === T.question ? 2 : 1
  const kind = c.peek(ahead)
  const isOperand = (kind >= T.int && kind <= T.textStart) || kind === T.true || kind === T.false
  return (isOperand || isName(kind)) && c.tokens.newlines[c.at + ahead] === 0
}

/** Reports `a ? b : c` or `a ?? b` of other languages, and skips it. */
function foreignChoice(c: Cursor): Expr {
  const {span} = c
  c.next()
  const isDefault = c.take(T.question)
  const hint = isDefault ? 'Write option.unwrap_or(other).' : 'Write if a { b } else { c }.'
  c.report('parse.unexpected_token', span, `'${isDefault ? '??' : '? :'}' is not an operator.`, {hints: [hint]})
  parseExpr(c)
  if (!isDefault && c.take(T.colon)) parseExpr(c)
  return {kind: 'missing', depth: 0, ...span}
}

/** args = [ arg { "," arg } [ "," ] ] ; arg = [ word "=" ] expr ; */
function call(c: Cursor, callee: Expr): Expr {
  if (!c.enter()) return missing(c)
  c.next()
  const args = c.within(false, parseArgs)
  c.leave()
  const depth = aboveAll(args, valueIn, callee.depth)
  const node: CallExpr = {kind: 'call', callee, args, depth, start: callee.start, end: c.lastEnd}
  return built(c, node)
}

const valueIn = ({value}: Arg | Entry) => value
const parseArgs = (c: Cursor) => c.list(T.parenClose, parseArg)

function parseArg(c: Cursor): Arg {
  const {start} = c
  const name = isWord(c.kind) && c.peek(1) === T.assign ? c.takeName() : undefined
  if (name !== undefined) c.next()
  const value = parseExpr(c)
  return {name, value, start, end: c.lastEnd}
}

/**
 * primary = INT | FLOAT | DEC | STRING | text | "true" | "false" | name | "(" ")" | "(" expr ")" | tuple | list
 *         | [ UPPER ] object | block | ifexpr | matchexpr | forexpr | lambda ;
 */
function parsePrimary(c: Cursor): Expr {
  const {kind} = c
  switch (kind) {
    case T.int:
      return literal(c, 'int', Number(c.text()))
    case T.float:
      return literal(c, 'float', Number(c.text()))
    case T.dec:
      return literal(c, 'dec', c.text().slice(0, -3))
    case T.string:
      return literal(c, 'str', stringValue(c.text()))
    case T.textWhole:
      return literal(c, 'str', textValue(c.text()))
    case T.true:
    case T.false:
      return literal(c, 'bool', kind === T.true)
  }
  if (isName(kind)) return nameOrRecord(c)
  if (!c.enter()) return missing(c)
  const node = parseConstruct(c)
  c.leave()
  return node
}

function literal<K, V>(c: Cursor, kind: K, value: V) {
  const {start} = c
  c.next()
  return {kind, value, depth: 0, start, end: c.lastEnd}
}

function nameOrRecord(c: Cursor): Expr {
  const {kind, start} = c
  const foreign = kind === T.lower ? foreignOperand(c) : undefined
  if (foreign !== undefined) return foreign
  if (c.peek(1) === T.fatArrow && !c.inGuard) return arrowLambda(c)
  const name = c.takeName()
  if (kind === T.upper && c.kind === T.braceOpen && !c.onNewLine && isRecordAhead(c)) {
    if (!c.enter()) return missing(c)
    const object = parseObject(c, name)
    c.leave()
    return object
  }
  return {kind: 'name', name, depth: 0, start, end: c.lastEnd}
}

/** text = TEXT_START expr { TEXT_MIDDLE expr } TEXT_END, which is written `f"a {b} c"`. */
function text(c: Cursor): Expr {
  const {start} = c
  const parts: Expr[] = []
  while (c.kind === T.textStart || c.kind === T.textMiddle) {
    parts.push(literal(c, 'str', textValue(c.text())))
    parts.push(c.within(false, parseWhole))
  }
  if (c.kind === T.textEnd) parts.push(literal(c, 'str', textValue(c.text())))
  else c.expected("'}'")
  return built(c, {kind: 'text', parts, depth: aboveAll(parts, itself, parts.length), start, end: c.lastEnd})
}

/** Whether the braces after a capitalised name are a record; in a head, they are a block if they could be one. */
const isRecordAhead = (c: Cursor) =>
  c.inHead ? c.isObjectAhead && !c.isEmptyAhead : c.isObjectAhead || c.isOneWordAhead

function parseConstruct(c: Cursor): Expr {
  switch (c.kind) {
    case T.parenOpen:
      return isLambdaAhead(c) ? parenLambda(c) : parenthesised(c)
    case T.bracketOpen:
      return list(c)
    case T.braceOpen:
      return c.isObjectAhead ? parseObject(c, undefined) : c.block()
    case T.textStart:
      return text(c)
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
  // The span includes the parentheses, so that diagnostics show them.
  if (commas === 0) return only.kind === 'missing' ? only : {...only, start, end: c.lastEnd}
  return built(c, {kind: 'tuple', items, depth: aboveAll(items, itself), start, end: c.lastEnd})
}

const itself = (item: Expr) => item
const parseWhole = (c: Cursor) => parseExpr(c)
const parseItems = (c: Cursor) => {
  const items = c.items(T.bracketClose, parseWhole)
  const isForeign = items.length === 1 && foreignComprehension(c)
  c.expect(T.bracketClose)
  return isForeign ? [missing(c)] : items
}

/** "[" [ expr { "," expr } [ "," ] ] "]" */
function list(c: Cursor): Expr {
  const {start} = c
  c.next()
  const items = c.within(false, parseItems)
  return built(c, {kind: 'list', items, depth: aboveAll(items, itself), start, end: c.lastEnd})
}

/**
 * object = "{" [ "..." expr [ "," ] ] [ entry { "," entry } [ "," ] ] "}" ;
 * entry = ( word | STRING ) ":" expr | name ;
 */
function parseObject(c: Cursor, type: Name | undefined): Expr {
  const {start} = type ?? c
  c.next()
  const {base, entries} = c.within(false, parseContents)
  const depth = aboveAll(entries, valueIn, base?.depth)
  return built(c, {kind: 'object', type, base, entries, depth, start, end: c.lastEnd})
}

function parseContents(c: Cursor): {base: Expr | undefined; entries: Entry[]} {
  let base: Expr | undefined
  let isFirst = true
  const parts = c.list(T.braceClose, () => {
    const at = c.span
    if (!c.take(T.spread)) {
      isFirst = false
      return parseEntry(c)
    }
    if (!isFirst) c.report('parse.unexpected_token', at, "'...' must be the first entry of an object.")
    isFirst = false
    base = parseExpr(c)
    return null
  })
  return {base, entries: parts.filter((part) => part !== null)}
}

function parseEntry(c: Cursor): Entry | undefined {
  const isShort = isName(c.kind) && (c.peek(1) === T.comma || c.peek(1) === T.braceClose)
  const key = objectKey(c)
  if (key === undefined) return undefined
  const {start, end} = key
  if (isShort) return {key, value: {kind: 'name', name: key, depth: 0, start, end}, start, end}
  if (!c.expect(T.colon)) return undefined
  const value = parseExpr(c)
  return {key, value, start, end: c.lastEnd}
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
