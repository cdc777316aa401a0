import type {Diagnostics} from '../diagnostics/index.js'
import {Cursor} from './cursor.js'
import {parseExpr} from './expressions.js'
import {lex} from './lexer.js'
import {parseBlock} from './statements.js'
import {T} from './token.js'

/** Parses a text that must be one expression. Never fails: what is wrong is reported. */
export function parseExpression(source: string, diagnostics: Diagnostics): void {
  const c = new Cursor(lex(source, diagnostics), diagnostics, {block: parseBlock, expr: parseExpr}, 'expression')
  c.within(false, () => c.expr())
  if (c.kind !== T.eof) c.unexpected('the end of the expression')
}
