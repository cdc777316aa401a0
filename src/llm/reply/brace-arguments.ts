import {braceNotation, structure} from '../../grammar/index.js'
import type {ArgumentsNotation, EmitArguments} from './call-format.js'
import type {Input, Reader} from './input.js'
import {argumentsGrammar, schemaOf} from './json-arguments.js'

/**
 * Arguments in braces, with keys without quotes, sorted as `dictsort` of Jinja does. Texts are plain, between two equal tags.
 * Source: "FunctionGemma formatting and best practices", Google, 2025.
 */
export const braceArguments = (quote: string): ArgumentsNotation => ({
  begin: '{',
  tags: [quote],
  marked: (withMarks) => braceArguments(withMarks(quote)),
  write: (values) => write(values, quote),
  *grammar(tool, name) {
    const parameters = withSortedProperties(schemaOf(tool))
    const grammar = yield* argumentsGrammar({...tool, parameters}, {notation: braceNotation(quote)})
    return structure.part(grammar, name, {dialect: quote})
  },
  read: (input, _, emit) => readValue(input, quote, emit),
})

const compareKeys = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => {
  const [first, second] = [a.toLowerCase(), b.toLowerCase()]
  return first < second ? -1 : first > second ? 1 : 0
}

const sorted = (values: object): [string, unknown][] => Object.entries(values).sort(compareKeys)

function write(value: unknown, quote: string): string {
  if (typeof value === 'string') return quote + value + quote
  if (Array.isArray(value)) return `[${value.map((each) => write(each, quote)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${sorted(value)
    .map(([key, each]) => `${key}:${write(each, quote)}`)
    .join(',')}}`
}

/** Properties are written in the order of the schema. */
function withSortedProperties(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withSortedProperties)
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(schema).map(([key, value]) => {
    const isMap = key === 'properties' && typeof value === 'object' && value !== null && !Array.isArray(value)
    return [key, withSortedProperties(isMap ? Object.fromEntries(sorted(value)) : value)] as const
  })
  return Object.fromEntries(entries)
}

/** Reads a value and emits it as JSON, in parts. */
function* readValue(input: Input, quote: string, emit: EmitArguments): Reader<boolean> {
  if (yield* input.skip(quote)) {
    const text = yield* input.until(quote)
    if (text === undefined) return false
    emit(JSON.stringify(text))
    return true
  }
  if (yield* input.skip('{')) return yield* readList(input, '}', emit, () => readPair(input, quote, emit))
  if (yield* input.skip('[')) return yield* readList(input, ']', emit, () => readValue(input, quote, emit))
  for (let isEmpty = true; ; isEmpty = false) {
    const letter = yield* input.next()
    if (letter === undefined) return false
    if (',}]'.includes(letter)) return !isEmpty
    emit(input.take(1))
  }
}

function* readList(input: Input, end: '}' | ']', emit: EmitArguments, read: () => Reader<boolean>): Reader<boolean> {
  emit(end === '}' ? '{' : '[')
  for (let isFirst = true; ; isFirst = false) {
    if (yield* input.skip(end)) {
      emit(end)
      return true
    }
    if (!isFirst) {
      if (!(yield* input.skip(','))) return false
      emit(', ')
    }
    if (!(yield* read())) return false
  }
}

function* readPair(input: Input, quote: string, emit: EmitArguments): Reader<boolean> {
  const key = yield* input.until(':')
  if (key === undefined) return false
  emit(`${JSON.stringify(key)}: `)
  return yield* readValue(input, quote, emit)
}
