import type {Expr} from '../syntax/index.js'
import type {Checker} from './checker.js'
import type {Ir} from './ir.js'
import {bool, type Condition, isComparable, isUnknown, type Table} from './types.js'

/** What a condition can do with text. `plan` writes the same in SQL. */
const textMethods: ReadonlySet<string> = new Set(['len', 'is_empty', 'contains', 'starts_with'])

/**
 * Checks a condition on one row, which names the columns of the row. A column that may be None has its value there: the
 * database accepts a row for which the condition is unknown.
 */
export function readCondition(c: Checker, table: Table, expr: Expr): Condition | undefined {
  const mark = c.scope.mark
  for (const {name, base, span} of table.columns) c.scope.bind(name, base, span)
  const ir = c.check(expr, bool)
  c.scope.leave(mark)
  if (!isCondition(ir)) {
    c.report(
      'typecheck.condition',
      expr,
      'A condition of a column or an index is made of columns of the row, literals, comparisons and arithmetic.',
      {hints: [`Text has ${[...textMethods].join(', ')}; other methods and functions are not part of the database.`]},
    )
    return undefined
  }
  return {ir, text: c.source.slice(expr.start, expr.end).replace(/\s+/g, ' ')}
}

function isCondition(ir: Ir): boolean {
  switch (ir.kind) {
    case 'const':
    case 'local':
    case 'variant':
      return isComparable(ir.type) || isUnknown(ir.type)
    case 'not':
    case 'negate':
      return ir.type.kind !== 'dec' && isCondition(ir.operand)
    case 'and':
    case 'or':
      return isCondition(ir.left) && isCondition(ir.right)
    case 'compare':
      return isCondition(ir.left) && isCondition(ir.right)
    case 'arithmetic':
      return (ir.mode === 'int' || ir.mode === 'float') && isTotal(ir) && isCondition(ir.left) && isCondition(ir.right)
    case 'builtin':
      return ir.name === 'len' && ir.args.every((arg) => arg.type.kind === 'str' && isCondition(arg))
    case 'method':
      return ir.family === 'str' && textMethods.has(ir.name) && isCondition(ir.object) && ir.args.every(isCondition)
    default:
      return false
  }
}

/** Whether an operator has a value for all operands, which is the same in SQL. */
function isTotal({operator, mode, right}: Ir & {kind: 'arithmetic'}): boolean {
  if (operator !== '/' && operator !== '%') return true
  return operator === '%' && mode === 'int' && right.kind === 'const' && right.value !== 0
}
