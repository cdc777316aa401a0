import type {ReplyFormat} from '../llm/index.js'
import {type Fields, isJsonObject} from './body.js'

/** Maximum number of choices, and characters of each. */
const choiceBounds = {min: 1, max: 10_000, maxLength: 10_000}

/** A format, and the path of the field that states it, which errors name. */
export type StatedFormat = readonly [field: string, format: ReplyFormat]

/**
 * What the reply must match: the field of the API, or an extension that both APIs have: those of vLLM and of llama.cpp.
 * @param own the format in the field of the API
 * @throws bad_request for a wrong type, and if several fields state a format
 */
export function readFormat(fields: Fields, own: (fields: Fields) => StatedFormat | undefined): {format?: ReplyFormat} {
  const stated = [own(fields), ...readGuided(fields), ...readStructured(fields), ...readLlamaCpp(fields)]
  const [first, second] = stated.filter((each) => each !== undefined)
  if (first === undefined) return {}
  if (second !== undefined) throw fields.wrong(second[0], `be omitted with ${first[0]}`)
  const [field, format] = first
  return {format: {...format, field}}
}

/** Ollama: `json`, or a schema. An empty text is none. */
export function readOllamaFormat(fields: Fields): StatedFormat | undefined {
  const value = fields.get('format')
  if (value === undefined || value === '') return undefined
  if (value === 'json') return ['format', {kind: 'json'}]
  if (!isJsonObject(value)) throw fields.wrong('format', 'be "json" or a JSON Schema')
  return ['format', {kind: 'schema', schema: fields.schema('format')}]
}

/** OpenAI: `text`, `json_object`, or `json_schema`. As in llama.cpp, `json_object` may have a schema. */
export function readResponseFormat(fields: Fields): StatedFormat | undefined {
  const format = fields.object('response_format')
  if (format === undefined) return undefined
  const schema = format.schema('schema')
  const named = format.object('json_schema')
  const [own, strict] = [named?.schema('schema') ?? schema, named?.boolean('strict') ?? false]
  const type = format.string('type')
  if (type !== 'json_schema' && named !== undefined)
    throw format.wrong('json_schema', 'be omitted unless type is json_schema')
  switch (type) {
    case 'text':
      if (schema !== undefined) throw format.wrong('schema', 'be omitted if type is text')
      return undefined
    case 'json_object':
      return ['response_format', schema === undefined ? {kind: 'json'} : {kind: 'schema', schema}]
    case 'json_schema':
      if (own === undefined) throw (named ?? format).wrong(named ? 'schema' : 'json_schema', 'be present')
      return ['response_format', {kind: 'schema', schema: own, strict}]
    default:
      throw format.wrong('type', 'be text, json_object or json_schema')
  }
}

/** vLLM before 0.12. */
function readGuided(fields: Fields): (StatedFormat | undefined)[] {
  return [
    schemaIn(fields, 'guided_json'),
    textIn(fields, 'guided_regex', (pattern) => ({kind: 'regex', pattern})),
    choicesIn(fields, 'guided_choice'),
    textIn(fields, 'guided_grammar', (grammar) => ({kind: 'grammar', grammar})),
  ]
}

/** vLLM from 0.12 on. */
function readStructured(fields: Fields): (StatedFormat | undefined)[] {
  const outputs = fields.object('structured_outputs')
  if (outputs === undefined) return []
  return [
    outputs.boolean('json_object') === true ? [outputs.param('json_object'), {kind: 'json'}] : undefined,
    schemaIn(outputs, 'json'),
    textIn(outputs, 'regex', (pattern) => ({kind: 'regex', pattern})),
    choicesIn(outputs, 'choice'),
    textIn(outputs, 'grammar', (grammar) => ({kind: 'grammar', grammar})),
  ]
}

function readLlamaCpp(fields: Fields): (StatedFormat | undefined)[] {
  return [
    schemaIn(fields, 'json_schema'),
    textIn(fields, 'grammar', (grammar) => ({kind: 'grammar', grammar, syntax: 'gbnf'})),
  ]
}

/** A schema, also as JSON text. */
function schemaIn(fields: Fields, name: string): StatedFormat | undefined {
  const value = fields.get(name)
  const schema = typeof value === 'string' ? parsed(fields, name, value) : fields.schema(name)
  return schema === undefined ? undefined : [fields.param(name), {kind: 'schema', schema}]
}

function parsed(fields: Fields, name: string, json: string): unknown {
  let schema: unknown
  try {
    schema = JSON.parse(json)
  } catch {
    throw fields.wrong(name, 'be a JSON Schema')
  }
  return fields.with(name, schema).schema(name)
}

/** An empty text is none, as in these programs. */
function textIn(fields: Fields, name: string, format: (text: string) => ReplyFormat): StatedFormat | undefined {
  const text = fields.string(name) ?? ''
  return text === '' ? undefined : [fields.param(name), format(text)]
}

function choicesIn(fields: Fields, name: string): StatedFormat | undefined {
  const choices = fields.texts(name, choiceBounds)
  return choices && [fields.param(name), {kind: 'choice', choices}]
}
