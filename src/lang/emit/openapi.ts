import {
  type FunctionType,
  type Program,
  placeholders,
  type Route,
  type SumType,
  type Table,
  type Type,
} from '../check/index.js'

type Schema = Record<string, unknown>

const ref = (name: string): Schema => ({$ref: `#/components/schemas/${name}`})

/** A type as JSON Schema, as its values travel. */
export function schemaOf(type: Type): Schema {
  switch (type.kind) {
    case 'int':
    case 'id':
      return {type: 'integer'}
    case 'float':
      return {type: 'number'}
    case 'bool':
      return {type: 'boolean'}
    case 'str':
      return {type: 'string'}
    case 'dec':
      return {type: 'string', pattern: '^-?\\d+(\\.\\d+)?$'}
    case 'bytes':
      return {type: 'string', contentEncoding: 'base64'}
    case 'list':
      return {type: 'array', items: schemaOf(type.of)}
    case 'set':
      return {type: 'array', items: schemaOf(type.of), uniqueItems: true}
    case 'map':
      return {type: 'object', additionalProperties: schemaOf(type.of)}
    case 'tuple':
      return {type: 'array', prefixItems: type.items.map(schemaOf), items: false, minItems: type.items.length}
    case 'option':
      return {anyOf: [schemaOf(type.of), {type: 'null'}]}
    case 'record':
      return ref(type.record.name)
    case 'sum':
      return ref(type.sum.name)
    case 'row':
      return ref(type.table.name)
    case 'result':
      return schemaOf(type.ok)
    default:
      return {}
  }
}

function objectSchema(fields: readonly {name: string; type: Type}[], doc: string | undefined): Schema {
  const present = (type: Type) => (type.kind === 'option' ? type.of : type)
  return {
    type: 'object',
    ...(doc === undefined ? {} : {description: doc}),
    properties: Object.fromEntries(fields.map(({name, type}) => [name, schemaOf(present(type))])),
    required: fields.filter(({type}) => type.kind !== 'option').map(({name}) => name),
  }
}

/** Rows of a projection lack columns, so nothing but `_id` is required of a row. */
const rowSchema = (table: Table): Schema => ({
  ...objectSchema([table.id, ...table.columns], table.doc),
  required: ['_id'],
})

function sumSchema({name, variants, doc}: SumType): [string, Schema][] {
  const parts = variants.map(({name: tag, fields}): [string, Schema] => {
    const {properties, required} = objectSchema(fields, undefined) as {properties: object; required: string[]}
    return [
      `${name}.${tag}`,
      {type: 'object', properties: {_tag: {const: tag}, ...properties}, required: ['_tag', ...required]},
    ]
  })
  const mapping = Object.fromEntries(variants.map(({name: tag}) => [tag, `#/components/schemas/${name}.${tag}`]))
  const whole: Schema = {
    ...(doc === undefined ? {} : {description: doc}),
    oneOf: parts.map(([part]) => ref(part)),
    discriminator: {propertyName: '_tag', mapping},
  }
  return [[name, whole], ...parts]
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
const failure = (description: string) => ({description, content: json(ref('ErrorEnvelope'))})

/** The routes of a program as OpenAPI 3.1. */
export function openapi(program: Program, {title, version}: {title: string; version: string}): object {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of program.routes) {
    const path = paths[route.path] ?? {}
    path[route.method.toLowerCase()] = operationOf(route)
    paths[route.path] = path
  }
  const schemas = [
    ...program.tables.map((table): [string, Schema] => [table.name, rowSchema(table)]),
    ...program.records.map(({name, fields, doc}): [string, Schema] => [name, objectSchema(fields, doc)]),
    ...program.sums.flatMap(sumSchema),
    ['ErrorEnvelope', envelope] as [string, Schema],
  ]
  return {
    openapi: '3.1.0',
    info: {title, version},
    servers: [{url: ''}],
    paths,
    components: {schemas: Object.fromEntries(schemas)},
  }
}

function operationOf(route: Route): Schema {
  const {function: made, method, kind, path} = route
  const own = made.params.filter(({type}) => type.kind !== 'request')
  const named = new Set(placeholders(path))
  const byQuery = method === 'GET' || method === 'DELETE'
  const parameters = own.flatMap((param) => {
    if (named.has(param.name)) return [{name: param.name, in: 'path', required: true, schema: schemaOf(param.type)}]
    if (!byQuery) return []
    const schema = schemaOf(param.type)
    const required = isRequired(param)
    return [
      kind === 'query'
        ? {name: param.name, in: 'query', required, content: json(schema)}
        : {name: param.name, in: 'query', required, schema},
    ]
  })
  const body = byQuery ? [] : own.filter(({name}) => !named.has(name))
  const {doc} = made.decl
  return {
    operationId: kind === 'http' ? operationId(made) : made.name,
    ...(doc === undefined ? {} : {description: doc}),
    ...(parameters.length === 0 ? {} : {parameters}),
    ...(body.length === 0 ? {} : {requestBody: requestBody(body)}),
    responses: responses(route),
  }
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

/** `GET /books/{id}/loans` as `get_books_id_loans`. */
const operationId = ({name}: FunctionType) => name.replace(/[^A-Za-z0-9]+/g, '_').replace(/_$/, '')

function responses({kind, function: {result}}: Route): Schema {
  const value = result.kind === 'result' ? result.ok : result
  const shown = kind === 'http' && value.kind === 'option' ? value.of : value
  const fine =
    value.kind === 'unit'
      ? {204: {description: 'Done.'}}
      : {200: {description: 'The result.', content: json(schemaOf(shown))}}
  return {
    ...fine,
    400: failure('A parameter is missing, unknown or of another type.'),
    ...(kind === 'http' && value.kind === 'option' ? {404: failure('There is no such thing.')} : {}),
    422: failure('The program refused.'),
    500: failure('The program failed.'),
    default: failure('Any other error.'),
  }
}
