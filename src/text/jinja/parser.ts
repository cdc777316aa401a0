import {openTemplate, shown} from './cursor.js'
import {constants, expressionParser} from './expressions.js'
import type {Token} from './lexer.js'
import type {BlockFilter, Expression, Parameter, Statement, Target} from './nodes.js'

/**
 * Parses a template with the grammar of Jinja2 3.1, without blocks and includes, and with `break`, `continue` and the
 * `generation` block of transformers.
 * @throws TemplateError
 */
export function parse(template: string): Statement[] {
  const cursor = openTemplate(template)
  const {
    current,
    ahead,
    isOperator,
    isWord,
    fail,
    next,
    skipOperator,
    skipWord,
    expectOperator,
    expectWord,
    expectName,
  } = cursor
  const {parseExpression, parseFilterName, parseTuple} = expressionParser(cursor)

  const expectBlockEnd = () => {
    const token = next()
    if (token.type !== 'block_end') fail(`expected the end of the statement, found ${shown(token)}`)
  }

  /** Parses until a statement with one of the words; its word is consumed. */
  function parseBody(words: readonly string[], opener: Token | undefined): {body: Statement[]; end: string} {
    const body: Statement[] = []
    for (;;) {
      const token = next()
      const {line} = token
      if (token.type === 'data') body.push({kind: 'text', text: token.value, line})
      else if (token.type === 'variable_begin') {
        body.push({kind: 'print', value: parseTuple(), line})
        const last = next()
        if (last.type !== 'variable_end') fail(`unexpected ${shown(last)}`, token)
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

  return parseBody([], undefined).body
}
