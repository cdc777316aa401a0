import {
  type FunctionType,
  type Program,
  placeholders,
  type Route,
  type SumType,
  servedRoutes,
  snakeCase,
  type Table,
  type Type,
  type Visitor,
  visitSome,
} from '../check/index.js'
import {completeRows, type IsPartial, partialAnywhere, partialIn, rowsIn} from './partial-rows.js'

type Schema = Record<string, unknown>

const ref = (name: string): Schema => ({$ref: `#/components/schemas/${name}`})

/** The name of the schema for partial rows. */
const partialName = (name: string) => `${name}.partial`

const tagged = (tag: string, value: Schema): Schema => ({
  type: 'object',
  properties: {_tag: {const: tag}, value},
  required: ['_tag', 'value'],
})

/** The JSON Schema of a type's JSON form. */
export const schemaOf = (type: Type, isPartial: IsPartial = completeRows): Schema =>
  visitSome(type, schemas, {isPartial, inner: (of) => schemaOf(of, isPartial)}, () => ({}))

const integer: Schema = {type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER}
/** Base64 with padding, whose unused bits are 0. */
const base64 = '^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$'

/** Of the years 1 to 9999. */
const dayPattern = '(?!0000)\\d{4}-\\d{2}-\\d{2}'
/** Without leap seconds, in UTC or with an offset. */
const timePattern = '([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)'
/** ISO 8601 without years and months. */
const durationPattern = '^[+-]?P(?!$)(\\d+W)?(\\d+D)?(T(?=\\d)(\\d+H)?(\\d+M)?(\\d+([.,]\\d{1,9})?S)?)?$'

const schemas: Partial<Visitor<Type, Schema, {isPartial: IsPartial; inner: (of: Type) => Schema}>> = {
  int: () => integer,
  id: () => integer,
  float: () => ({type: 'number'}),
  bool: () => ({type: 'boolean'}),
  str: () => ({type: 'string'}),
  dec: () => ({type: 'string', pattern: '^-?\\d+(\\.\\d+)?$'}),
  date: () => ({type: 'string', format: 'date', pattern: `^${dayPattern}$`}),
  datetime: () => ({type: 'string', format: 'date-time', pattern: `^${dayPattern}T${timePattern}$`}),
  duration: () => ({type: 'string', format: 'duration', pattern: durationPattern}),
  bytes: () => ({type: 'string', contentEncoding: 'base64', pattern: base64}),
  list: ({of}, {inner}) => ({type: 'array', items: inner(of)}),
  set: ({of}, {inner}) => ({type: 'array', items: inner(of), uniqueItems: true}),
  map: ({of}, {inner}) => ({type: 'object', additionalProperties: inner(of)}),
  tuple: ({items}, {inner}) => ({
    type: 'array',
    prefixItems: items.map(inner),
    items: false,
    minItems: items.length,
  }),
  option: ({of}, {inner}) => ({anyOf: [inner(of), {type: 'null'}]}),
  record: ({record}) => ref(record.name),
  sum: ({sum}) => ref(sum.name),
  object: ({fields}, {isPartial}) =>
    objectSchema(
      [...fields].map(([name, type]) => ({name, type})),
      undefined,
      isPartial,
    ),
  row: ({table}, {isPartial}) => ref(isPartial(table) ? partialName(table.name) : table.name),
  unit: () => ({type: 'null'}),
  result: ({ok, error}, {inner}) => ({oneOf: [tagged('Ok', inner(ok)), tagged('Error', inner(error))]}),
}

const present = (type: Type) => (type.kind === 'option' ? type.of : type)

const plainTypes: ReadonlySet<Type['kind']> = new Set([
  ...(['str', 'dec', 'bytes', 'int', 'float', 'bool', 'id', 'date', 'datetime', 'duration'] as const),
])

/** Whether a route reads a parameter as plain text, or in the query string as a repeated parameter, instead of JSON. */
function isPlain(type: Type, place: 'path' | 'query'): boolean {
  const given = present(type)
  if (place === 'query' && (given.kind === 'list' || given.kind === 'set')) return plainTypes.has(given.of.kind)
  return plainTypes.has(given.kind)
}

/** Maximum length of a segment of a path that is a parameter, characters. */
const maxSegmentLength = 1024

/** The schema of a parameter that a route reads as text. In the query string, text that begins like JSON is read as JSON. */
function textSchema(type: Type, place: 'path' | 'query'): Schema {
  const given = present(type)
  const schema = schemaOf(given)
  if (place === 'path')
    return schema.type === 'string' ? {...schema, minLength: 1, maxLength: maxSegmentLength} : schema
  if (given.kind === 'list' || given.kind === 'set') return {...schema, items: notJson(given.of, '["[]'), minItems: 1}
  return notJson(given, '"')
}

const notJson = (type: Type, starts: string): Schema =>
  type.kind === 'str' ? {type: 'string', pattern: `^(?!\\s*${starts})`} : schemaOf(type)

function objectSchema(
  fields: readonly {name: string; type: Type}[],
  doc: string | undefined,
  isPartial: IsPartial = completeRows,
): Schema {
  return {
    type: 'object',
    ...(doc === undefined ? {} : {description: doc}),
    properties: Object.fromEntries(fields.map(({name, type}) => [name, schemaOf(present(type), isPartial)])),
    required: fields.filter(({type}) => type.kind !== 'option').map(({name}) => name),
    additionalProperties: false,
  }
}

const rowSchema = (table: Table): Schema => objectSchema([table.id, ...table.columns], table.doc)

/** Rows of a projection are only guaranteed to have `_id`. */
const partialRowSchema = (table: Table): Schema => ({...rowSchema(table), required: ['_id']})

function sumSchema({name, variants, doc}: SumType, isPartial: IsPartial): [string, Schema][] {
  const parts = variants.map(({name: tag, fields}): [string, Schema] => {
    const {properties, required} = objectSchema(fields, undefined, isPartial) as {
      properties: object
      required: string[]
    }
    return [
      `${name}.${tag}`,
      {
        type: 'object',
        properties: {_tag: {const: tag}, ...properties},
        required: ['_tag', ...required],
        additionalProperties: false,
      },
    ]
  })
  const mapping = Object.fromEntries(variants.map(({name: tag}) => [tag, `#/components/schemas/${name}.${tag}`]))
  const union: Schema = {
    ...(doc === undefined ? {} : {description: doc}),
    oneOf: parts.map(([part]) => ref(part)),
    discriminator: {propertyName: '_tag', mapping},
  }
  return [[name, union], ...parts]
}

const envelope: Schema = {
  type: 'object',
  properties: {
    ok: {const: false},
    code: {type: 'string'},
    message: {type: 'string'},
    request_id: {type: 'string'},
    details: {},
  },
  required: ['ok', 'code', 'message'],
}

const json = (schema: Schema) => ({'application/json': {schema}})
/** The component of the error format. Names of a program never contain `-`. */
const envelopeName = ({tables, records, sums}: Program): string =>
  [...tables, ...records, ...sums].some(({name}) => name === 'ErrorEnvelope') ? 'ErrorEnvelope-svc' : 'ErrorEnvelope'

/** The routes of a program as OpenAPI 3.1. `token`: clients must send a token. */
export function openapi(
  program: Program,
  {title, version, token = false}: {title: string; version: string; token?: boolean},
): object {
  const paths: Record<string, Record<string, unknown>> = {}
  const errors = envelopeName(program)
  const ids = new Set<string>()
  const add = (path: string, method: string, id: string, operation: Schema) => {
    paths[path] = {...paths[path], [method]: {operationId: uniqueId(id, ids), ...operation}}
  }
  for (const route of servedRoutes(program.routes))
    add(route.path, route.method.toLowerCase(), idOf(route), operationOf(route, {token, errors}))
  const topics = [...new Set(program.functions.flatMap(({chains}) => chains.flatMap(({live}) => live ?? [])))]
  if (topics.length > 0) add('/api/live/{topic}', 'get', 'live', liveOperation(topics, {token, errors}))
  const isPartial = partialAnywhere(program)
  const partial = partialTables(program)
  const schemas = [
    ...program.tables.map((table): [string, Schema] => [table.name, rowSchema(table)]),
    ...partial.map((table): [string, Schema] => [partialName(table.name), partialRowSchema(table)]),
    ...program.records.map(({name, fields, doc}): [string, Schema] => [name, objectSchema(fields, doc, isPartial)]),
    ...program.sums.flatMap((sum) => sumSchema(sum, isPartial)),
    [errors, envelope] as [string, Schema],
  ]
  return {
    openapi: '3.1.0',
    info: {title, version},
    servers: [{url: ''}],
    ...(token ? {security: [{bearer: []}]} : {}),
    paths,
    components: {
      schemas: Object.fromEntries(schemas),
      ...(token ? {securitySchemes: {bearer: {type: 'http', scheme: 'bearer'}}} : {}),
    },
  }
}

/** Tables whose partial rows are used in a schema. */
function partialTables(program: Program): Table[] {
  const isPartial = partialAnywhere(program)
  const fields = [...program.records, ...program.sums.flatMap(({variants}) => variants)].flatMap((made) => made.fields)
  const named = new Set([
    ...fields.flatMap(({type}) => rowsIn(type)).filter(isPartial),
    ...program.routes.flatMap((route) => rowsIn(route.function.result).filter(partialIn(route))),
  ])
  return program.tables.filter((table) => named.has(table))
}

interface Responding {
  token: boolean
  /** The component of the error format. */
  errors: string
}

function operationOf(route: Route, responding: Responding): Schema {
  const {function: made, method, kind, path} = route
  const own = made.params.filter(({type}) => type.kind !== 'request')
  const named = new Set(placeholders(path))
  const byQuery = method === 'GET' || method === 'DELETE'
  const parameters = own.flatMap((param) => {
    const {name, type} = param
    const place = named.has(name) ? 'path' : 'query'
    if (place === 'query' && !byQuery) return []
    const required = place === 'path' || isRequired(param)
    const sent = kind !== 'query' && isPlain(type, place)
    return [
      {name, in: place, required, ...(sent ? {schema: textSchema(type, place)} : {content: json(schemaOf(type))})},
    ]
  })
  const body = byQuery ? [] : own.filter(({name}) => !named.has(name))
  const {doc} = made.decl
  return {
    summary: summaryOf(route),
    ...(doc === undefined ? {} : {description: doc}),
    ...(parameters.length === 0 ? {} : {parameters}),
    ...(body.length === 0 ? {} : {requestBody: requestBody(body)}),
    responses: responses(route, responding),
  }
}

/** The first sentence of the documentation, or the name as a label. */
function summaryOf(route: Route): string {
  const {function: made, method, path, kind} = route
  const [sentence = ''] = made.decl.doc?.trim().split(/(?<=[.!?])\s|\n/) ?? []
  const summary = sentence || (kind === 'http' ? `${method} ${path}` : labelOf(made.name))
  return isByPost(route) ? `${summary.replace(/\.$/, '')} (arguments in the body)` : summary
}

const isByPost = ({kind, method}: Route) => kind === 'query' && method === 'POST'

/** Converts `add_task` and `addTask` to `Add task`. */
function labelOf(name: string): string {
  const text = snakeCase(name).replaceAll('_', ' ').trim()
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const isRequired = ({optional, type}: FunctionType['params'][number]) => !optional && type.kind !== 'option'

function requestBody(params: FunctionType['params']): Schema {
  const schema = {
    type: 'object',
    properties: Object.fromEntries(params.map(({name, type}) => [name, schemaOf(type)])),
    required: params.filter(isRequired).map(({name}) => name),
    additionalProperties: false,
  }
  return {required: params.some(isRequired), content: json(schema)}
}

/** The name of an endpoint; `GET /books/{id}/loans` is `get_books_id_loans`. */
function idOf(route: Route): string {
  const {name} = route.function
  if (route.kind === 'http') return name.replace(/[^A-Za-z0-9]+/g, '_').replace(/_$/, '')
  return isByPost(route) ? `${name}_by_post` : name
}

/** An id with a number if another operation has the same. */
function uniqueId(id: string, ids: Set<string>): string {
  let unique = id
  for (let n = 2; ids.has(unique); n++) unique = `${id}_${n}`
  ids.add(unique)
  return unique
}

/** `GET /api/live/TOPIC`. */
function liveOperation(topics: readonly string[], responding: Responding): Schema {
  const id = {type: 'string', pattern: '^[0-9]+(-[0-9a-f]{8})?$'}
  return {
    summary: 'Follow the changes of a topic',
    description:
      'Server-sent events with the ids of changed rows, until the client disconnects. A client that sends the id of the last event that it received gets every later one.',
    parameters: [
      {name: 'topic', in: 'path', required: true, schema: {enum: topics}},
      {name: 'after_id', in: 'query', required: false, schema: id},
      {name: 'Last-Event-ID', in: 'header', required: false, schema: id},
    ],
    responses: {
      200: {description: 'The events.', content: {'text/event-stream': {schema: {type: 'string'}}}},
      ...errorResponses([400, 404], responding),
    },
  }
}

const statuses = {
  400: 'A parameter is missing, unknown or of the wrong type.',
  401: 'The token is missing or wrong.',
  404: 'The requested item does not exist.',
  409: 'A row violates a constraint, such as a unique index.',
  413: 'The body is larger than 1 MiB.',
  415: 'The content type of the body is not application/json.',
  422: 'The program returned an error.',
  500: 'The program failed.',
  503: 'The database is locked by another process, or the server is overloaded.',
  default: 'Any other error.',
} as const

function errorResponses(found: readonly (keyof typeof statuses)[], {token, errors}: Responding): Schema {
  const all = [...found, ...(token ? ([401] as const) : []), 'default' as const]
  return Object.fromEntries(all.map((status) => [status, {description: statuses[status], content: json(ref(errors))}]))
}

function responses(route: Route, responding: Responding): Schema {
  const {
    kind,
    method,
    function: {result},
  } = route
  const value = result.kind === 'result' ? result.ok : result
  const isOptional = value.kind === 'option'
  const bodyType = kind === 'http' ? present(value) : value
  const result200 = (schema: Schema) => ({200: {description: 'The result.', content: json(schema)}})
  const fine =
    present(value).kind === 'unit'
      ? {...(isOptional && kind !== 'http' ? result200({type: 'null'}) : {}), 204: {description: 'Done.'}}
      : result200(schemaOf(bodyType, partialIn(route)))
  const errors = [
    400,
    ...(kind === 'http' && isOptional ? ([404] as const) : []),
    ...(kind === 'query' ? [] : ([409] as const)),
    ...(method === 'GET' ? [] : ([413, 415] as const)),
    422,
    500,
    503,
  ] as const
  return {...fine, ...errorResponses(errors, responding)}
}
