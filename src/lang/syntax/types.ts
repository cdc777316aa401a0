import type {Expr, Field, TypeNode} from './ast.js'
import type {Cursor} from './cursor.js'
import {foreignColumn, foreignType} from './foreign.js'
import {isName, isWord, T} from './token.js'

/** Shared by all types without type arguments. */
const none: readonly TypeNode[] = []

/**
 * type = "_" | "fn" "(" [ type { "," type } ] ")" [ "to" type ] | "(" [ type { "," type } ] ")"
 *      | name [ "[" type { "," type } "]" ] ;
 */
export function parseType(c: Cursor): TypeNode | undefined {
  const {start} = c
  if (!c.enter()) return undefined
  try {
    if (c.take(T.wildcard)) return {kind: 'wildcard', start, end: c.lastEnd}
    if (c.take(T.fn)) return functionType(c, start)
    if (c.kind === T.parenOpen) {
      const items = typeList(c, T.parenOpen, T.parenClose)
      return {kind: 'tuple', items, start, end: c.lastEnd}
    }
    if (!isName(c.kind)) {
      c.unexpected('a type')
      return undefined
    }
    const name = c.takeName()
    const hasArgs = c.kind === T.bracketOpen && !c.onNewLine && c.peek(1) !== T.bracketClose
    const args = hasArgs ? typeList(c, T.bracketOpen, T.bracketClose) : none
    return foreignType(c, {kind: 'named', name, args, start, end: c.lastEnd}, parseType)
  } finally {
    c.leave()
  }
}

function functionType(c: Cursor, start: number): TypeNode {
  const params = c.kind === T.parenOpen ? typeList(c, T.parenOpen, T.parenClose) : []
  if (params.length === 0 && c.lastEnd === start + 2) c.expect(T.parenOpen)
  const result = c.take(T.to) ? parseType(c) : undefined
  return {kind: 'function', params, result, start, end: c.lastEnd}
}

function typeList(c: Cursor, open: number, close: number): TypeNode[] {
  c.expect(open)
  return c.list(close, parseType)
}

/**
 * field = word ":" type ; followed by a comma, a semicolon, a line end or nothing.
 * column = field [ "=" expr ] { "unique" | "check" "(" expr ")" | "on" "delete" action | stamp | "was" word } ;
 * stamp = "@created_at" | "@updated_at" ;
 */
export function parseFields(c: Cursor, close: number, areColumns = false): Field[] {
  const fields: Field[] = []
  while (c.kind !== close && c.kind !== T.eof) {
    if (c.take(T.comma) || c.take(T.semicolon)) continue
    if (!isWord(c.kind)) {
      c.expected('a field name')
      // A declaration keyword at the start of a line means that the closing brace is missing.
      if (c.kind === T.decorator || c.kind === T.braceClose || c.kind === T.parenClose) break
      c.next()
      continue
    }
    if (startsDeclaration(c)) {
      c.expected(close === T.braceClose ? "'}'" : "')'")
      return fields
    }
    const name = c.takeName()
    const mark = c.span
    if (c.take(T.question))
      c.report('parse.unexpected_token', mark, "A field has no '?'.", {hints: [`Write ${name.text}: Option[T].`]})
    if (!c.take(T.colon)) c.expected("':'")
    const type = parseType(c)
    const column = areColumns ? columnParts(c) : {}
    fields.push({name, type, ...column, start: name.start, end: c.lastEnd})
  }
  c.expect(close)
  return fields
}

/** Columns whose values the store sets. */
const stamps: ReadonlySet<string> = new Set(['@created_at', '@updated_at'])

type ColumnParts = Pick<Field, 'fallback' | 'unique' | 'check' | 'onDelete' | 'stamp' | 'was'>

/** What follows the type of a column. The next field may have the name of a part, such as `unique`. */
function columnParts(c: Cursor): ColumnParts {
  foreignColumn(c)
  let parts: ColumnParts = !c.firstOnLine && c.take(T.assign) ? {fallback: c.expr()} : {}
  while (!c.firstOnLine && c.peek(1) !== T.colon) {
    const part = columnPart(c)
    if (part === undefined) break
    const repeated = Object.keys(part).find((key) => key in parts)
    if (repeated !== undefined) c.unexpected('the next column')
    parts = {...parts, ...part}
  }
  return parts
}

function columnPart(c: Cursor): ColumnParts | undefined {
  if (c.kind === T.decorator && stamps.has(c.text())) return {stamp: c.takeName()}
  if (c.takeContextual('unique')) return {unique: true}
  if (c.isContextual('check') && c.peek(1) === T.parenOpen) return {check: parseCondition(c)}
  if (c.takeContextual('was')) {
    const was = c.word()
    return was === undefined ? {} : {was}
  }
  if (!c.isContextual('on')) return undefined
  c.next()
  if (!c.takeContextual('delete')) c.expected("'delete'")
  const onDelete = c.word()
  return onDelete === undefined ? {} : {onDelete}
}

/** A word, and a condition in parentheses. */
export function parseCondition(c: Cursor): Expr {
  c.next()
  c.expect(T.parenOpen)
  const condition = c.expr()
  c.expect(T.parenClose)
  return condition
}

/** Whether `fn`, `type` or `pub` starts a line and is not a field name. */
const startsDeclaration = (c: Cursor) =>
  c.firstOnLine && (c.kind === T.fn || c.kind === T.type || c.kind === T.pub) && c.peek(1) !== T.colon
