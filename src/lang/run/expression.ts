import {checkProgram, type FunctionType, type Program} from '../check/index.js'
import type {Diagnostic} from '../diagnostics/index.js'

const name = 'svc_query_expression'

/** An expression checked as the body of a query endpoint of a program. */
export interface CheckedExpression {
  program: Program
  target: FunctionType | undefined
  /** Diagnostics of the expression; offsets are relative to its start. */
  diagnostics: Diagnostic[]
}

/** Checks an expression in the context of a program: it can use its functions and tables, but only read. */
export function checkExpression(source: string, expression: string): CheckedExpression {
  const head = `${source}\n@endpoint(kind: query) fn ${name}() to _ { return (`
  const program = checkProgram(`${head}${expression}\n) }\n`)
  const moved = program.diagnostics
    .filter(({start}) => start >= head.length - 1)
    .map((found) => ({...found, start: place(found.start, head, expression), end: place(found.end, head, expression)}))
  return {program, target: program.functions.find((made) => made.name === name), diagnostics: moved}
}

const place = (offset: number, head: string, expression: string) =>
  Math.min(Math.max(0, offset - head.length), expression.length)
