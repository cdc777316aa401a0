import {type Expression, type Pattern, type Steps, schemaGrammarInSteps, structure} from '../../grammar/index.js'
import type {ArgumentsGrammar, ArgumentsNotation} from './call-format.js'
import type {Input, Reader} from './input.js'
import {writeJson} from './json-arguments.js'
import {argumentSchemas} from './tagged-arguments.js'

const literals: Readonly<Record<string, string>> = {true: 'True', false: 'False', null: 'None'}
const {tag, part, sequence, either} = structure

/** Keyword arguments of a call in Python. Strings are in double quotes, with the escapes of JSON. */
export const pythonArguments: ArgumentsNotation = {
  write: (values) =>
    `${Object.entries(values)
      .map(([name, value]) => `${name}=${writePython(value)}`)
      .join(', ')})`,
  *grammar(tool, name): Steps<ArgumentsGrammar> {
    const rules = new Map<string, Expression>()
    const pairs: {pair: Expression; isRequired: boolean}[] = []
    for (const {name: argument, schema, isRequired} of argumentSchemas(tool)) {
      const own = part(yield* schemaGrammarInSteps(schema), `${name} ${argument}`, {
        dialect: 'python',
        replace: inPython,
      })
      for (const [key, rule] of own.rules) rules.set(key, rule)
      pairs.push({pair: sequence(tag(`${argument}=`), own.expression), isRequired})
    }
    return {expression: separated(pairs, tag(', '), tag(')'), name, rules), rules}
  },
  *read(input, _, emit) {
    emit('{')
    for (let isFirst = true; ; isFirst = false) {
      if (yield* input.skip(')')) {
        emit('}')
        return true
      }
      if (!isFirst) yield* input.skip(', ')
      const name = yield* input.until('=')
      const value = name === undefined ? undefined : yield* readPython(input, ',)')
      if (name === undefined || value === undefined) return false
      emit(`${isFirst ? '' : ', '}${JSON.stringify(name)}: ${value}`)
    }
  },
}

/** A list of pairs in their order, of which the optional ones may be left out, with separators, and its end. */
export function separated(
  pairs: readonly {pair: Expression; isRequired: boolean}[],
  separator: Expression,
  end: Expression,
  name: string,
  rules: Map<string, Expression>,
): Expression {
  const rule = (at: number, isFirst: boolean): Expression => ({kind: 'rule', name: `${name} ${at} ${isFirst}`})
  for (const isFirst of [true, false]) {
    rules.set(`${name} ${pairs.length} ${isFirst}`, end)
    for (const [at, {pair, isRequired}] of pairs.entries()) {
      const used = sequence(...(isFirst ? [] : [separator]), pair, rule(at + 1, false))
      rules.set(`${name} ${at} ${isFirst}`, isRequired ? used : either(used, rule(at + 1, isFirst)))
    }
  }
  return rule(0, true)
}

/** The literals of Python in place of those of JSON; the same object for a pattern without them. */
function inPython(pattern: Pattern): Pattern {
  if (pattern.kind === 'text') {
    const literal = literals[pattern.text]
    return literal === undefined ? pattern : {kind: 'text', text: literal}
  }
  if (pattern.kind !== 'either') return pattern
  const options = pattern.options.map(inPython)
  return options.every((each, i) => each === pattern.options[i]) ? pattern : {kind: 'either', options}
}

function writePython(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writePython).join(', ')}]`
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, entry]) => `${JSON.stringify(key)}: ${writePython(entry)}`)
      .join(', ')}}`
  const json = writeJson(value)
  return literals[json] ?? json
}

/** Reads a value up to one of the ends, outside brackets, and returns it as JSON. */
function* readPython(input: Input, ends: string): Reader<string | undefined> {
  let json = ''
  let depth = 0
  for (;;) {
    const letter = yield* input.next()
    if (letter === undefined) return undefined
    if (depth === 0 && ends.includes(letter)) return json
    if (letter === '"' || letter === "'") {
      const text = yield* readQuoted(input)
      if (text === undefined) return undefined
      json += text
      continue
    }
    const word = /^[A-Za-z]+/.exec(input.rest)?.[0]
    if (word !== undefined && word.length === input.rest.length && !input.hasEnded) {
      yield
      continue
    }
    if (word !== undefined) {
      const literal = Object.entries(literals).find(([, python]) => python === word)
      json += literal?.[0] ?? word
      input.take(word.length)
      continue
    }
    if ('[{('.includes(letter)) depth++
    if (']})'.includes(letter)) depth--
    json += input.take(1)
  }
}

/** Reads a text in quotes, and returns it as a JSON string. */
function* readQuoted(input: Input): Reader<string | undefined> {
  const quote = input.take(1)
  let json = '"'
  for (;;) {
    const letter = yield* input.next()
    if (letter === undefined) return undefined
    input.take(1)
    if (letter === quote) return `${json}"`
    if (letter === '\\') {
      const next = yield* input.next()
      if (next === undefined) return undefined
      input.take(1)
      json += next === "'" ? next : letter + next
    } else json += letter === '"' ? '\\"' : letter
  }
}
