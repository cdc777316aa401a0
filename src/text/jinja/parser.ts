import {TemplateError} from './budget.js'
import {type Token, tokenize} from './lexer.js'
import type {Arguments, BlockFilter, Expression, Parameter, Statement, Target} from './nodes.js'
import type {Arithmetic, Comparison} from './operators.js'
import {Float, none, type Value} from './values.js'

const constants: ReadonlyMap<string, Value> = new Map<string, Value>([
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

/**
 * Parses a template with the grammar of Jinja2 3.1, without blocks and includes, and with `break`, `continue` and the
 * `generation` block of transformers.
 * @throws TemplateError
 */
export function parse(template: string): Statement[] {
  const tokens = tokenize(template)
  let at = 0
  const current = () => tokens[at] as Token
  const ahead = () => tokens[Math.min(at + 1, tokens.length - 1)] as Token
  const isOperator = (value: string) => current().type === 'operator' && current().value === value
  const isWord = (...words: string[]) => current().type === 'name' && words.includes(current().value)

  const shown = ({type, value}: Token) =>
    type === 'end' ? 'the end of the template' : type.endsWith('_end') ? 'the end of the tag' : `'${value}'`
  const fail = (reason: string, {line} = current()): never => {
    throw new TemplateError(`${reason} (line ${line})`)
  }
  const next = () => tokens[at++] as Token
  const skipOperator = (value: string) => isOperator(value) && next() !== undefined
  const skipWord = (word: string) => isWord(word) && next() !== undefined
  const expectOperator = (value: string) => {
    if (!skipOperator(value)) fail(`expected '${value}', found ${shown(current())}`)
  }
  const expectWord = (word: string) => {
    if (!skipWord(word)) fail(`expected '${word}', found ${shown(current())}`)
  }
  const expectName = (): string =>
    current().type === 'name' ? next().value : fail(`expected a name, found ${shown(current())}`)
  const expectBlockEnd = () => {
    if (next().type !== 'block_end') fail(`expected the end of the statement, found ${shown(tokens[at - 1] as Token)}`)
  }

  // Statements

  /** Parses until a statement with one of the words; its word is consumed. */
  function parseBody(words: readonly string[], opener: Token | undefined): {body: Statement[]; end: string} {
    const body: Statement[] = []
    for (;;) {
      const token = next()
      const {line} = token
      if (token.type === 'data') body.push({kind: 'text', text: token.value, line})
      else if (token.type === 'variable_begin') {
        body.push({kind: 'print', value: parseTuple(), line})
        if (next().type !== 'variable_end') fail(`unexpected ${shown(tokens[at - 1] as Token)}`, token)
      } else if (token.type === 'block_begin') {
        const word = current()
        if (word.type !== 'name') fail(`expected the name of a statement, found ${shown(word)}`)
        next()
        if (words.includes(word.value)) return {body, end: word.value}
        body.push(...parseStatement(word))
      } else if (opener === undefined) return {body, end: ''}
      else fail(`the block '${opener.value}' is not closed`, opener)
    }
  }

  /** Parses a body whose end has no other parts. */
  function parseBlock(opener: Token): Statement[] {
    expectBlockEnd()
    const {body} = parseBody([`end${opener.value}`], opener)
    expectBlockEnd()
    return body
  }

  function parseStatement(word: Token): Statement[] {
    const {line} = word
    switch (word.value) {
      case 'if':
        return [parseIf(word)]
      case 'for':
        return [parseFor(word)]
      case 'set':
        return [parseSet(word)]
      case 'macro': {
        const name = expectName()
        const parameters = parseParameters()
        return [{kind: 'macro', name, parameters, body: parseBlock(word), line}]
      }
      case 'call': {
        const parameters = isOperator('(') ? parseParameters() : []
        const call = parseExpression()
        if (call.kind !== 'call') return fail("expected a call after 'call'", word)
        return [{kind: 'call', call, parameters, body: parseBlock(word), line}]
      }
      case 'filter':
        return [{kind: 'filtered', filters: parseFilters(true), body: parseBlock(word), line}]
      case 'with': {
        const entries: [Target, Expression][] = []
        while (current().type !== 'block_end') {
          if (entries.length > 0) expectOperator(',')
          const target = parseTarget(false)
          expectOperator('=')
          entries.push([target, parseExpression()])
        }
        return [{kind: 'with', entries, body: parseBlock(word), line}]
      }
      case 'generation':
        return [{kind: 'with', entries: [], body: parseBlock(word), line}]
      case 'break':
      case 'continue':
        expectBlockEnd()
        return [{kind: word.value, line}]
      default:
        return fail(`unknown statement '${word.value}'`, word)
    }
  }

  function parseIf(word: Token): Statement {
    const branches: [Expression, Statement[]][] = []
    let otherwise: Statement[] = []
    for (let end = 'elif'; end !== 'endif'; ) {
      const isElse = end === 'else'
      const test = isElse ? undefined : parseTuple(false)
      expectBlockEnd()
      const part = parseBody(isElse ? ['endif'] : ['elif', 'else', 'endif'], word)
      if (test === undefined) otherwise = part.body
      else branches.push([test, part.body])
      end = part.end
    }
    expectBlockEnd()
    return {kind: 'if', branches, otherwise, line: word.line}
  }

  function parseFor(word: Token): Statement {
    const target = parseTarget(false)
    expectWord('in')
    const values = parseTuple(false)
    const condition = skipWord('if') ? parseExpression() : undefined
    const recursive = skipWord('recursive')
    expectBlockEnd()
    const {body, end} = parseBody(['else', 'endfor'], word)
    let otherwise: Statement[] = []
    if (end === 'else') {
      expectBlockEnd()
      otherwise = parseBody(['endfor'], word).body
    }
    expectBlockEnd()
    return {kind: 'for', target, values, condition, recursive, body, otherwise, line: word.line}
  }

  function parseSet(word: Token): Statement {
    const {line} = word
    const target = parseTarget(true)
    if (skipOperator('=')) {
      const value = parseTuple()
      expectBlockEnd()
      return {kind: 'set', target, value, line}
    }
    return {kind: 'capture', target, filters: parseFilters(false), body: parseBlock(word), line}
  }

  /** Filters of a block: `trim | upper`, or with a leading `|`. */
  function parseFilters(isInline: boolean): BlockFilter[] {
    const filters: BlockFilter[] = []
    while ((isInline && filters.length === 0) || skipOperator('|')) filters.push(parseFilterName())
    return filters
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

  function parseTarget(withAttributes: boolean): Target {
    if (withAttributes && current().type === 'name' && ahead().type === 'operator' && ahead().value === '.') {
      const of = next().value
      next()
      return {kind: 'attribute', of, name: expectName()}
    }
    const items: Target[] = []
    let isTuple = false
    for (;;) {
      if (skipOperator('(')) {
        items.push(parseTarget(false))
        expectOperator(')')
      } else {
        const name = expectName()
        if (constants.has(name)) fail(`cannot assign to '${name}'`)
        items.push({kind: 'name', name})
      }
      if (!skipOperator(',')) break
      isTuple = true
      if (current().type !== 'name' && !isOperator('(')) break
      if (isWord('in')) break
    }
    return isTuple ? {kind: 'tuple', items} : (items[0] as Target)
  }

  function parseParameters(): Parameter[] {
    const parameters: Parameter[] = []
    expectOperator('(')
    while (!skipOperator(')')) {
      if (parameters.length > 0) expectOperator(',')
      const name = expectName()
      const fallback = skipOperator('=') ? parseExpression() : undefined
      if (fallback === undefined && parameters.at(-1)?.fallback !== undefined)
        fail('non-default argument follows default argument')
      parameters.push({name, fallback})
    }
    return parameters
  }

  // Expressions, in the order of precedence

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

  return parseBody([], undefined).body
}
