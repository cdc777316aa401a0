import {type Cursor, shown} from './cursor.js'
import type {Arguments, BlockFilter, Expression} from './nodes.js'
import type {Arithmetic, Comparison} from './operators.js'
import {Float, none, type Value} from './values.js'

export const constants: ReadonlyMap<string, Value> = new Map<string, Value>([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', none],
  ['None', none],
])
const comparisons: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>='])
/** Tokens that end a tuple without parentheses. */
const tupleEnds: ReadonlySet<string> = new Set([')', 'variable_end', 'block_end'])

/** The parser of expressions, in the order of precedence. */
export function expressionParser({
  current,
  ahead,
  isOperator,
  isWord,
  fail,
  next,
  skipOperator,
  skipWord,
  expectOperator,
  expectName,
}: Cursor) {
  /** An expression, or several separated by commas. */
  function parseTuple(withCondition = true, isParenthesised = false): Expression {
    const items: Expression[] = []
    let isTuple = false
    while (!isTupleEnd()) {
      items.push(withCondition ? parseExpression() : parseOr())
      if (!isOperator(',')) break
      next()
      isTuple = true
    }
    if (items.length === 0 && !isParenthesised) fail(`expected an expression, found ${shown(current())}`)
    return isTuple || items.length === 0 ? {kind: 'tuple', items} : (items[0] as Expression)
  }

  const isTupleEnd = () =>
    tupleEnds.has(current().type) || isOperator(')') || isWord('recursive') || current().type === 'end'

  function parseExpression(): Expression {
    let then = parseOr()
    while (skipWord('if')) {
      const test = parseOr()
      const otherwise = skipWord('else') ? parseExpression() : undefined
      then = {kind: 'condition', test, then, otherwise}
    }
    return then
  }

  function parseOr(): Expression {
    let left = parseAnd()
    while (skipWord('or')) left = {kind: 'or', left, right: parseAnd()}
    return left
  }

  function parseAnd(): Expression {
    let left = parseNot()
    while (skipWord('and')) left = {kind: 'and', left, right: parseNot()}
    return left
  }

  function parseNot(): Expression {
    return skipWord('not') ? {kind: 'not', of: parseNot()} : parseComparison()
  }

  function parseComparison(): Expression {
    const first = parseSum()
    const rest: [Comparison, Expression][] = []
    for (;;) {
      const {type, value} = current()
      if (type === 'operator' && comparisons.has(value)) {
        next()
        rest.push([value as Comparison, parseSum()])
      } else if (skipWord('in')) rest.push(['in', parseSum()])
      else if (isWord('not') && ahead().type === 'name' && ahead().value === 'in') {
        next()
        next()
        rest.push(['not in', parseSum()])
      } else return rest.length === 0 ? first : {kind: 'comparison', first, rest}
    }
  }

  const parseBinary = (operators: readonly string[], parseOperand: () => Expression) => (): Expression => {
    let left = parseOperand()
    while (current().type === 'operator' && operators.includes(current().value)) {
      const operator = next().value as Arithmetic
      left = {kind: 'arithmetic', operator, left, right: parseOperand()}
    }
    return left
  }
  // The functions below are hoisted, so these constants are ready before they are called.
  const parsePower = parseBinary(['**'], () => parseUnary(true))
  const parseProduct = parseBinary(['*', '/', '//', '%'], parsePower)
  const parseSum = parseBinary(['+', '-'], parseConcatenation)

  function parseConcatenation(): Expression {
    const items = [parseProduct()]
    while (skipOperator('~')) items.push(parseProduct())
    return items.length === 1 ? (items[0] as Expression) : {kind: 'concatenation', items}
  }

  function parseUnary(withFilter: boolean): Expression {
    const sign = isOperator('-') ? -1 : isOperator('+') ? 1 : undefined
    if (sign !== undefined) next()
    const of: Expression = sign === undefined ? parsePrimary() : {kind: 'sign', sign, of: parseUnary(false)}
    const value = parsePostfix(of)
    return withFilter ? parseFiltered(value) : value
  }

  function parsePrimary(): Expression {
    const token = next()
    const {type, value} = token
    switch (type) {
      case 'name':
        return constants.has(value)
          ? {kind: 'constant', value: constants.get(value) as Value}
          : {kind: 'name', name: value}
      case 'string': {
        let text = value
        while (current().type === 'string') text += next().value
        return {kind: 'constant', value: text}
      }
      case 'integer': {
        const number = Number(value.replaceAll('_', ''))
        return Number.isSafeInteger(number)
          ? {kind: 'constant', value: number}
          : fail('an integer is larger than 2^53', token)
      }
      case 'float':
        return {kind: 'constant', value: new Float(Number(value.replaceAll('_', '')))}
      case 'operator':
        if (value === '(') {
          const tuple = parseTuple(true, true)
          expectOperator(')')
          return tuple
        }
        if (value === '[') return {kind: 'list', items: parseItems(']', parseExpression)}
        if (value === '{') {
          const parseEntry = (): [Expression, Expression] => {
            const key = parseExpression()
            expectOperator(':')
            return [key, parseExpression()]
          }
          return {kind: 'dict', entries: parseItems('}', parseEntry)}
        }
    }
    return fail(`unexpected ${shown(token)}`, token)
  }

  function parseItems<T>(close: string, parseItem: () => T): T[] {
    const items: T[] = []
    while (!skipOperator(close)) {
      if (items.length > 0) {
        expectOperator(',')
        if (skipOperator(close)) break
      }
      items.push(parseItem())
    }
    return items
  }

  function parsePostfix(start: Expression): Expression {
    let of = start
    for (;;) {
      if (skipOperator('.')) {
        const {type, value} = next()
        if (type === 'name') of = {kind: 'attribute', of, name: value}
        else if (type === 'integer') of = {kind: 'item', of, key: {kind: 'constant', value: Number(value)}}
        else fail('expected a name or a number after the point')
      } else if (skipOperator('[')) of = parseSubscript(of)
      else if (isOperator('(')) of = {kind: 'call', of, args: parseArguments()}
      else return of
    }
  }

  function parseSubscript(of: Expression): Expression {
    const bounds: (Expression | undefined)[] = []
    let colons = 0
    const parseBound = () => (isOperator(':') || isOperator(']') ? undefined : parseExpression())
    bounds.push(parseBound())
    while (skipOperator(':')) {
      if (++colons > 2) fail("unexpected ':'")
      bounds.push(parseBound())
    }
    if (colons > 0) {
      expectOperator(']')
      return {kind: 'slice', of, bounds}
    }
    const [key] = bounds
    if (key === undefined) return fail('expected a key')
    if (!isOperator(',')) {
      expectOperator(']')
      return {kind: 'item', of, key}
    }
    next()
    return {kind: 'item', of, key: {kind: 'tuple', items: [key, ...parseItems(']', parseExpression)]}}
  }

  function parseFiltered(start: Expression): Expression {
    let of = start
    for (;;) {
      if (skipOperator('|')) of = {kind: 'filter', of, ...parseFilterName()}
      else if (skipWord('is')) of = parseTest(of)
      else if (isOperator('(')) of = {kind: 'call', of, args: parseArguments()}
      else return of
    }
  }

  function parseTest(of: Expression): Expression {
    const isNegated = skipWord('not')
    const name = parseDotted()
    const {type} = current()
    let args: Arguments = {positional: [], named: []}
    if (isOperator('(')) args = parseArguments()
    else if (
      ['name', 'string', 'integer', 'float'].includes(type)
        ? !isWord('else', 'or', 'and', 'if', 'in', 'not', 'recursive')
        : isOperator('[') || isOperator('{')
    ) {
      if (isWord('is')) fail('tests cannot be chained with is')
      args.positional.push(parsePostfix(parsePrimary()))
    }
    const test: Expression = {kind: 'test', of, name, args}
    return isNegated ? {kind: 'not', of: test} : test
  }

  function parseArguments(): Arguments {
    const args: Arguments = {positional: [], named: []}
    let count = 0
    expectOperator('(')
    while (!skipOperator(')')) {
      if (count++ > 0) {
        expectOperator(',')
        if (skipOperator(')')) break
      }
      if (skipOperator('*')) args.rest = parseExpression()
      else if (skipOperator('**')) args.namedRest = parseExpression()
      else if (current().type === 'name' && ahead().type === 'operator' && ahead().value === '=') {
        const name = next().value
        next()
        args.named.push([name, parseExpression()])
      } else {
        if (args.named.length > 0) fail('positional argument follows keyword argument')
        args.positional.push(parseExpression())
      }
    }
    return args
  }

  function parseFilterName(): BlockFilter {
    const name = parseDotted()
    return {name, args: isOperator('(') ? parseArguments() : {positional: [], named: []}}
  }

  function parseDotted(): string {
    let name = expectName()
    while (skipOperator('.')) name += `.${expectName()}`
    return name
  }

  return {parseExpression, parseFilterName, parseTuple}
}
