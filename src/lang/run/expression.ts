import {checkExpressionIn, type ExpressionCheck, type FunctionType} from '../check/index.js'

const name = 'svc_query_expression'

/** An expression checked as the body of a query endpoint of a program. */
export interface CheckedExpression extends ExpressionCheck {
  /** The endpoint; undefined if the text is not one expression. */
  readonly target: FunctionType | undefined
}

/** Checks an expression in the context of a program: it can use its functions and tables, but only read. */
export function checkExpression(source: string, expression: string): CheckedExpression {
  const head = `${source}\n@endpoint(kind: query) fn ${name}() to _ { return `
  const checked = checkExpressionIn(head, expression, ' }\n')
  return {...checked, target: checked.program?.functions.find((made) => made.name === name)}
}
