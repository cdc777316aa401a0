import {isObject} from '../contracts/index.js'
import {
  type Decoder,
  decoder,
  type FunctionType,
  JsonFault,
  parseJsonText,
  placeholders,
  type Route,
  show,
  type Type,
  TypeMismatch,
  toJson,
  type Value,
} from '../lang/index.js'

/** An error in one parameter of a request. */
export interface ParameterError {
  param: string
  code: 'missing' | 'unknown' | 'duplicate' | 'invalid_json' | 'type'
  expected?: string
}

/** A request whose parameters do not match the function. */
export class BadParameters extends Error {
  readonly errors: readonly ParameterError[]
  constructor(errors: readonly ParameterError[]) {
    super('invalid parameters')
    this.errors = errors
  }
}

/** A request whose body is not a JSON object. */
export class BadBody extends Error {}

export interface Sources {
  query: Readonly<Record<string, string | string[] | undefined>>
  params: Readonly<Record<string, string | undefined>>
  body: string | undefined
}

/** Reads the arguments of a function from a request. @throws BadParameters, BadBody */
export type ReadArguments = (sources: Sources) => Value[]

interface Parameter {
  name: string
  expected: string
  decode: Decoder
  /** True if it has a default or is an Option. */
  optional: boolean
  hasDefault: boolean
  /** The type without Option, if its plain text is its JSON form without quotation marks. */
  text: 'str' | 'dec' | 'bytes' | undefined
  /** The elements of a list or set, which may be repeated in the query string of a route. */
  item: Parameter | undefined
}

function parametersOf({params}: FunctionType): Parameter[] {
  return params
    .filter(({type}) => type.kind !== 'request')
    .map(({name, type, optional}) => parameterOf(name, type, optional))
}

function parameterOf(name: string, type: Type, hasDefault: boolean): Parameter {
  const given = type.kind === 'option' ? type.of : type
  const {kind} = given
  return {
    name,
    expected: show(type),
    decode: decoder(type),
    optional: hasDefault || type.kind === 'option',
    hasDefault,
    text: kind === 'str' || kind === 'dec' || kind === 'bytes' ? kind : undefined,
    item: kind === 'list' || kind === 'set' ? parameterOf(name, given.of, false) : undefined,
  }
}

/** Selects, once per route, the source and decoder of each parameter. */
export function argumentReader({kind, method, path, function: target}: Route): ReadArguments {
  const parameters = parametersOf(target)
  if (kind === 'query' && method === 'GET') return (sources) => fromQuery(parameters, sources.query, false)
  if (kind !== 'http') return ({body, query}) => fromBody(parameters, body, Object.keys(query))
  const names = new Set(placeholders(path))
  const inPath = parameters.filter(({name}) => names.has(name))
  const others = parameters.filter(({name}) => !names.has(name))
  const byQuery = method === 'GET' || method === 'DELETE'
  // A route without parameters other than those in its path can have any query and body.
  const readOthers = ({query, body}: Sources) => {
    if (others.length === 0) return []
    return byQuery ? fromQuery(others, query, true) : fromBody(others, body)
  }
  const order = parameters.map((parameter) =>
    inPath.includes(parameter) ? inPath.indexOf(parameter) : inPath.length + others.indexOf(parameter),
  )
  return (sources) => {
    const values = [...fromPath(inPath, sources.params), ...readOthers(sources)]
    return order.map((at) => values[at])
  }
}

function fromPath(parameters: readonly Parameter[], texts: Sources['params']): Value[] {
  const errors: ParameterError[] = []
  const values = parameters.map((parameter) =>
    decodeText(parameter, texts[parameter.name] ?? '', errors, parameter.text === 'str' ? 'text' : 'either'),
  )
  if (errors.length > 0) throw new BadParameters(errors)
  return values
}

function fromQuery(parameters: readonly Parameter[], query: Sources['query'], plain: boolean): Value[] {
  const errors: ParameterError[] = []
  const values = parameters.map((parameter) => {
    const text = query[parameter.name]
    if (text === undefined) return absent(parameter, errors)
    if (plain && parameter.item !== undefined) return decodeItems(parameter, parameter.item, [text].flat(), errors)
    if (typeof text !== 'string') {
      errors.push({param: parameter.name, code: 'duplicate'})
      return undefined
    }
    return decodeText(parameter, text, errors, plain ? 'either' : 'json')
  })
  for (const name of Object.keys(query)) checkKnown(parameters, name, errors)
  if (errors.length > 0) throw new BadParameters(errors)
  return values
}

/** `unknown`: names of parameters that the request has elsewhere, but the function does not read. */
function fromBody(
  parameters: readonly Parameter[],
  body: string | undefined,
  unknown: readonly string[] = [],
): Value[] {
  const entries = parseBody(body)
  const errors: ParameterError[] = []
  const values = parameters.map((parameter) =>
    Object.hasOwn(entries, parameter.name)
      ? decodeJson(parameter, entries[parameter.name], errors)
      : absent(parameter, errors),
  )
  for (const name of Object.keys(entries)) checkKnown(parameters, name, errors)
  errors.push(...unknown.map((param) => ({param, code: 'unknown'}) as const))
  if (errors.length > 0) throw new BadParameters(errors)
  return values
}

function parseBody(body: string | undefined): Readonly<Record<string, unknown>> {
  if (body === undefined || body.trim() === '') return {}
  let parsed: unknown
  try {
    parsed = parseJsonText(body)
  } catch (error) {
    throw faultOfBody(error)
  }
  if (!isObject(parsed)) throw new BadBody('the request body must be a JSON object')
  return parsed as Record<string, unknown>
}

function faultOfBody(thrown: unknown): Error {
  if (!(thrown instanceof JsonFault)) return new BadBody('the request body is not JSON')
  const {duplicate, message} = thrown
  if (duplicate?.depth === 1) return new BadParameters([{param: duplicate.key, code: 'duplicate'}])
  return new BadBody(`the request body is not valid: ${message}`)
}

function absent({name, expected, optional, hasDefault}: Parameter, errors: ParameterError[]): Value {
  if (!optional) errors.push({param: name, code: 'missing', expected})
  return hasDefault ? undefined : null
}

function checkKnown(parameters: readonly Parameter[], name: string, errors: ParameterError[]): void {
  if (!parameters.some((parameter) => parameter.name === name)) errors.push({param: name, code: 'unknown'})
}

function decodeJson({name, expected, decode}: Parameter, json: unknown, errors: ParameterError[]): Value {
  try {
    return decode(json)
  } catch (error) {
    if (!(error instanceof TypeMismatch)) throw error
    errors.push({param: name, code: 'type', expected})
    return undefined
  }
}

/** Decodes a value sent as text: as JSON, as plain text, or as whichever is valid. */
function decodeText(
  parameter: Parameter,
  text: string,
  errors: ParameterError[],
  form: 'json' | 'text' | 'either',
): Value {
  if (form === 'text') return decodeJson(parameter, text, errors)
  let json: unknown
  try {
    json = parseJsonText(text)
  } catch {
    if (form === 'either') return decodeJson(parameter, text, errors)
    errors.push({param: parameter.name, code: 'invalid_json'})
    return undefined
  }
  // The text `null` or `12` of a str is not JSON; text in quotation marks is.
  const isPlain = form === 'either' && parameter.text !== undefined && typeof json !== 'string'
  return decodeJson(parameter, isPlain ? text : json, errors)
}

/** Decodes a list or set: one JSON array, or the elements as repeated parameters. */
function decodeItems(list: Parameter, item: Parameter, texts: readonly string[], errors: ParameterError[]): Value {
  const [first = ''] = texts
  if (texts.length === 1 && first.startsWith('[')) return decodeText(list, first, errors, 'either')
  const failed: ParameterError[] = []
  const items = texts.map((text) => toJson(decodeText(item, text, failed, 'either')))
  if (failed.length === 0) return decodeJson(list, items, errors)
  errors.push({param: list.name, code: 'type', expected: list.expected})
  return undefined
}
