/**
 * Constructs of TypeScript, Python and SQL where the language has another one: each is reported once, with what to write
 * instead, and skipped, so that it causes no other errors.
 */
import type {Body, Expr, Name, TypeNode} from './ast.js'
import type {Cursor} from './cursor.js'
import {isName, isWord, T} from './token.js'

const report = (c: Cursor, at: {start: number; end: number}, message: string, hint: string) =>
  c.report('parse.unexpected_token', at, message, {hints: [hint]})

const skipped = (start: number, c: Cursor): Expr => ({kind: 'missing', depth: 0, start, end: c.lastEnd})

const noFunction = 'Write n => n + 1, or fn(n) { ... }.'

/** Words before an operand. */
const operandWords: ReadonlyMap<string, string> = new Map([
  ['new', 'Write a record as Point { x: 1 }, and the time as DateTime.now().'],
  ['await', 'Calls return their values.'],
  ['async', 'Functions return their values.'],
  ['typeof', 'The types of all values are known when the program is checked.'],
  ['function', noFunction],
  ['lambda', noFunction],
])

const isOperand = (kind: number) =>
  (kind >= T.int && kind <= T.textStart) || kind === T.true || kind === T.false || isName(kind)
const isOnLine = (c: Cursor, ahead: number) => c.tokens.newlines[c.at + ahead] === 0

/** Skips `new Date()`, `await f()`, `function (n) { … }`, `lambda n: n`; undefined for anything else. */
export function foreignOperand(c: Cursor): Expr | undefined {
  const next = c.peek(1)
  const isCall = next === T.parenOpen
  if (!(isCall || isOperand(next)) || !isOnLine(c, 1)) return undefined
  const word = c.text()
  const hint = operandWords.get(word)
  if (hint === undefined || (isCall && !isFunction(c))) return undefined
  const {start} = c
  report(c, c.span, `There is no '${word}'.`, hint)
  c.next()
  if (word === 'lambda') {
    while (c.kind !== T.colon && c.kind !== T.eof && !c.firstOnLine) c.next()
    if (c.take(T.colon)) c.expr()
    return skipped(start, c)
  }
  if (word === 'function' && isName(c.kind)) c.next()
  if (!isCall && word !== 'function') c.expr()
  else {
    c.skipBalanced()
    c.take(T.fatArrow)
    if (c.kind === T.braceOpen) c.skipBalanced()
    else if (!c.firstOnLine) c.expr()
  }
  return skipped(start, c)
}

/** Whether a body follows a word and parameters in parentheses. */
function isFunction(c: Cursor): boolean {
  const {at} = c
  c.next()
  const isClosed = c.skipBalanced()
  const found = isClosed && (c.kind === T.braceOpen || c.kind === T.fatArrow) && !c.firstOnLine
  c.at = at
  return found
}

/** Skips what follows an operand in another language: `x as T`, `x in list`, `x if c else y`; undefined for others. */
export function foreignSuffix(c: Cursor, left: Expr): Expr | undefined {
  if (c.firstOnLine || left.kind === 'missing') return undefined
  const {kind, span} = c
  if (kind === T.in && c.peek(1) !== T.colon && isOperandAhead(c)) {
    report(c, span, "'in' is not an operator.", 'Write list.contains(x), or { column: { in: list } } in conditions.')
  } else if (kind === T.not && c.peek(1) === T.in) {
    report(c, span, "'not in' is not an operator.", 'Write not list.contains(x).')
    c.next()
  } else if (kind === T.lower && c.text() === 'as' && isName(c.peek(1))) {
    report(
      c,
      span,
      'There are no casts.',
      'Convert the value, as in int(x) and str(x), or declare its type: let x: T = ...',
    )
  } else if (kind === T.if && c.peek(-1) !== T.braceClose) {
    report(c, span, "'if' cannot follow a value.", 'Write if condition { a } else { b }.')
    c.next()
    c.expr()
    if (c.kind !== T.else) return skipped(left.start, c)
  } else return undefined
  c.next()
  c.expr()
  return skipped(left.start, c)
}

const isOperandAhead = (c: Cursor) => isOperand(c.peek(1)) || c.peek(1) === T.bracketOpen || c.peek(1) === T.parenOpen

/** Skips the rest of a slice of Python, `items[1:2]`, of which the first index was read. */
export function foreignSlice(c: Cursor): void {
  if (c.kind !== T.colon) return
  report(
    c,
    c.span,
    'There are no slices in brackets.',
    'Write items.slice(from, until); negative positions count from the end.',
  )
  while (c.peek(0) !== T.bracketClose && c.peek(0) !== T.eof && !c.firstOnLine) c.next()
}

/** Skips the rest of a comprehension of Python. */
export function foreignComprehension(c: Cursor): boolean {
  if (c.kind !== T.for) return false
  report(c, c.span, 'There are no comprehensions.', 'Write items.map(n => n + 1), or items.filter(n => n > 0).')
  let depth = 0
  while (c.peek(0) !== T.eof && !(depth === 0 && c.peek(0) === T.bracketClose)) {
    if (c.peek(0) === T.bracketOpen) depth++
    if (c.peek(0) === T.bracketClose) depth--
    c.next()
  }
  return true
}

/** Skips `++` after a variable. */
export function foreignIncrement(c: Cursor): boolean {
  const isDouble = c.peek(1) === T.plus && c.tokens.starts[c.at + 1] === c.span.end
  if (!isDouble) return false
  report(c, {start: c.start, end: c.start + 2}, "There is no operator '++'.", 'Write x += 1.')
  c.at += 2
  return true
}

/** Skips a loop of TypeScript: `for (const n of items) { … }`, `for (let i = 0; …) { … }`; undefined for others. */
export function foreignLoop(c: Cursor, start: number): Expr | undefined {
  if (c.kind !== T.parenOpen) return undefined
  const word = c.at + 1
  const isLoop = c.peek(1) === T.let || (c.peek(1) === T.lower && /^(?:const|var)$/.test(c.text(word)))
  if (!isLoop) return undefined
  const at = {start: c.tokens.starts[word] as number, end: c.tokens.ends[word] as number}
  const from = c.at
  c.skipBalanced()
  const isCounting = c.tokens.kinds.subarray(from, c.at).includes(T.semicolon)
  const hint = isCounting ? 'Write for i in range(0, 10) { ... }.' : 'Write for item in items { ... }.'
  report(c, at, 'The variable of a loop has no parentheses.', hint)
  if (c.peek(0) === T.braceOpen) c.skipBalanced()
  return skipped(start, c)
}

/** What follows a type in another language: `int[]`, `Option<int>`, `int?`, `int | null`. */
export function foreignType(c: Cursor, node: TypeNode, parseType: (c: Cursor) => TypeNode | undefined): TypeNode {
  if (c.firstOnLine || node.kind !== 'named') return node
  const {kind, span} = c
  const {start} = node
  const wrapped = (text: string): TypeNode => {
    const name: Name = {text, start, end: node.end}
    return {kind: 'named', name, args: [node], start, end: c.lastEnd}
  }
  const written = node.name.text
  if (kind === T.bracketOpen && c.peek(1) === T.bracketClose) {
    report(c, span, 'The type of a list is not written with brackets after the item.', `Write List[${written}].`)
    c.at += 2
    return wrapped('List')
  }
  if (kind === T.less && node.args.length === 0) {
    const text = written === 'Array' ? 'List' : written
    report(c, span, 'The arguments of a type are in brackets.', `Write ${text}[T].`)
    c.next()
    const args: TypeNode[] = []
    while (c.kind !== T.greater && c.kind !== T.eof && !c.firstOnLine) {
      const arg = parseType(c)
      if (arg === undefined) break
      args.push(arg)
      if (!c.take(T.comma)) break
    }
    c.take(T.greater)
    return {...node, name: {...node.name, text}, args, end: c.lastEnd}
  }
  const isNullable = kind === T.bar && c.peek(1) === T.lower && /^(?:null|undefined|nil)$/.test(c.text(c.at + 1))
  if (kind !== T.question && !isNullable) return node
  report(c, span, 'A value that may be absent has the type Option.', `Write Option[${written}].`)
  c.at += isNullable ? 2 : 1
  return wrapped('Option')
}

/** Words that follow the type of a column in SQL. */
const columnWords: ReadonlyMap<string, string> = new Map([
  ['not', 'Columns are required unless their type is Option[T].'],
  ['null', 'A column that may be absent has the type Option[T].'],
  ['nullable', 'A column that may be absent has the type Option[T].'],
  ['primary', 'Every table has the primary key _id.'],
  ['autoincrement', 'Every table has the primary key _id, which the store assigns.'],
  ['default', 'Write a default as in done: bool = false.'],
  ['references', 'A column that refers to a row has the type Id[Table].'],
])

/** Skips constraints of SQL after a column. */
export function foreignColumn(c: Cursor): void {
  if (c.firstOnLine || !isWord(c.kind) || c.peek(1) === T.colon) return
  const hint = columnWords.get(c.text().toLowerCase())
  if (hint === undefined) return
  report(c, c.span, `A column has no '${c.text()}'.`, hint)
  while (
    !c.firstOnLine &&
    c.kind !== T.comma &&
    c.kind !== T.semicolon &&
    c.kind !== T.braceClose &&
    c.kind !== T.eof
  ) {
    if (isWord(c.kind) && c.peek(1) === T.colon) return
    if (c.kind === T.parenOpen) c.skipBalanced()
    else c.next()
  }
}

const table = 'Write @table type Task { title: str }.'
const record = 'Write type Point { x: int, y: int }.'
const noExport = 'Remove it: the whole program is one file.'

/** Words that begin declarations of other languages, and what to write instead. */
const declarationWords: ReadonlyMap<string, string> = new Map([
  ['table', table],
  ['model', table],
  ['create', table],
  ['class', record],
  ['interface', record],
  ['struct', record],
  ['enum', 'Write type State = | Open | Done.'],
  ['function', 'Write fn name(x: int) to int { ... }.'],
  ['def', 'Write fn name(x: int) to int { ... }.'],
  ['func', 'Write fn name(x: int) to int { ... }.'],
  ['export', noExport],
  ['default', noExport],
  ['public', noExport],
])

/** What to write instead of a word where a declaration is expected. */
export const declarationHint = (c: Cursor): string | undefined =>
  isWord(c.kind) ? declarationWords.get(c.text().toLowerCase()) : undefined

/** A body that is an expression, without braces. */
export function foreignBody(c: Cursor): Body {
  const {start} = c
  const value = c.expr()
  const span = {start, end: c.lastEnd}
  return () => ({kind: 'block', statements: [{kind: 'expr', value, ...span}], depth: value.depth + 1, ...span})
}
