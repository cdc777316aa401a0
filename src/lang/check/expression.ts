import {type Diagnostic, Diagnostics} from '../diagnostics/index.js'
import {parseExpression} from '../syntax/index.js'
import {checkProgram, type Program} from './program.js'

/** An expression that was checked as a part of a program. */
export interface ExpressionCheck {
  /** The program around the expression; undefined if the text is not one expression. */
  readonly program: Program | undefined
  /** Diagnostics of the expression; offsets are relative to its start. */
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Checks an expression between two parts of a program. A text that is not one expression is not checked any further, so
 * that it cannot close brackets of the program, and its diagnostic does not mention them.
 */
export function checkExpressionIn(before: string, expression: string, after: string): ExpressionCheck {
  const alone = new Diagnostics()
  parseExpression(expression, alone)
  // Later errors are often consequences of the first.
  const fault = alone.sorted().find(({severity}) => severity === 'error')
  if (fault !== undefined) return {program: undefined, diagnostics: [fault]}
  const head = `${before}(`
  const program = checkProgram(`${head}${expression}\n)${after}`)
  const place = (offset: number) => Math.min(Math.max(0, offset - head.length), expression.length)
  const moved = <S extends {start: number; end: number}>(span: S): S => ({
    ...span,
    start: place(span.start),
    end: place(span.end),
  })
  return {
    program,
    diagnostics: program.diagnostics
      .filter(({start}) => start >= head.length - 1)
      .map(({fixes = [], related = [], ...found}) => ({
        ...moved(found),
        fixes: fixes.map(moved),
        related: related.filter(({start}) => start >= head.length).map(moved),
      })),
  }
}
