import {
  checkStrict,
  type Grammar,
  type SchemaOptions,
  type Steps,
  schemaGrammarInSteps,
  structure,
} from '../../grammar/index.js'
import type {Tool} from '../tools.js'
import type {ArgumentsNotation, EmitArguments} from './call-format.js'
import type {Input, Reader} from './input.js'

type Schema = Readonly<Record<string, unknown>>

/** Keywords that may allow undeclared properties. */
const openKeywords =
  'additionalProperties patternProperties unevaluatedProperties propertyNames allOf anyOf oneOf if not $ref $dynamicRef ' +
  'dependentSchemas dependencies dependentRequired minProperties'

/**
 * The schema of a tool's arguments, which are an object. If it neither allows nor refuses undeclared ones, none are written: they
 * would be valid, but no tool expects them.
 */
export function schemaOf({parameters}: Tool): unknown {
  if (parameters === undefined) return {type: 'object', additionalProperties: false}
  if (typeof parameters !== 'object' || parameters === null) return parameters
  const schema: Schema = {...parameters, type: 'object'}
  return isClosed(schema) ? {...schema, additionalProperties: false} : schema
}

function isClosed(schema: Schema): boolean {
  const {properties, required} = schema
  if (openKeywords.split(' ').some((keyword) => schema[keyword] !== undefined)) return false
  if (typeof properties !== 'object' || properties === null) return false
  return !Array.isArray(required) || required.every((name) => Object.hasOwn(properties, String(name)))
}

/** @throws what `schemaGrammar` and `checkStrict` throw */
export function* argumentsGrammar(tool: Tool, options: SchemaOptions = {}): Steps<Grammar> {
  const schema = schemaOf(tool)
  if (tool.strict === true) checkStrict(schema)
  return yield* schemaGrammarInSteps(schema, options)
}

/** Python's spacing, with which models are trained. */
export const writeJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(writeJson).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).map(([key, entry]) => `${JSON.stringify(key)}: ${writeJson(entry)}`)
  return `{${entries.join(', ')}}`
}

/** A JSON object. */
export const jsonArguments: ArgumentsNotation = {
  write: writeJson,
  *grammar(tool, name) {
    return structure.part(yield* argumentsGrammar(tool), name)
  },
  *read(input, _, emit) {
    return yield* readJson(input, emit)
  },
}

/** Reads a JSON object or array, and emits it in the parts in which it arrives. */
function* readJson(input: Input, emit: EmitArguments): Reader<boolean> {
  let depth = 0
  let inString = false
  let isEscaped = false
  for (;;) {
    if ((yield* input.next()) === undefined) return false
    const {rest} = input
    let length = 0
    while (length < rest.length) {
      const letter = rest[length++]
      if (inString) {
        if (isEscaped) isEscaped = false
        else if (letter === '\\') isEscaped = true
        else if (letter === '"') inString = false
      } else if (letter === '"') inString = true
      else if (letter === '{' || letter === '[') depth++
      else if ((letter === '}' || letter === ']') && --depth === 0) break
    }
    emit(input.take(length))
    if (depth === 0) return true
  }
}
