import type {Schema} from '../../contracts/index.js'
import {openapi, type Program, type Route} from '../../lang/index.js'

/** Input and output schema of an endpoint. Each contains the definitions of the types that it refers to. */
export interface EndpointSchemas {
  input: Schema
  output: Schema
}

interface Parameter {
  name: string
  required: boolean
  schema?: Schema
  content?: {'application/json': {schema: Schema}}
}

interface RouteDocument {
  parameters?: Parameter[]
  requestBody?: {content: {'application/json': {schema: Schema}}}
  responses: Record<string, {content?: {'application/json': {schema: Schema}}}>
}

/** Reads the schemas of endpoints off the OpenAPI document of their program. */
export function endpointSchemas(program: Program): (route: Route) => EndpointSchemas {
  const document = openapi(program, {title: 'program', version: '1'}) as {
    paths: Record<string, Record<string, RouteDocument>>
    components: {schemas: Record<string, Schema>}
  }
  return ({path, method}) => {
    const found = document.paths[path]?.[method.toLowerCase()]
    if (found === undefined) throw new TypeError(`the OpenAPI document has no ${method} ${path}`)
    const {parameters = [], requestBody, responses} = found
    const body = requestBody?.content['application/json'].schema
    const result = responses['200']?.content?.['application/json'].schema ?? {}
    return {
      input: withDefinitions(body ?? fromParameters(parameters), document.components.schemas),
      output: withDefinitions(result, document.components.schemas),
    }
  }
}

function fromParameters(parameters: readonly Parameter[]): Schema {
  const schemaOf = ({schema, content}: Parameter) => schema ?? content?.['application/json'].schema ?? {}
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map((parameter) => [parameter.name, schemaOf(parameter)])),
    required: parameters.filter(({required}) => required).map(({name}) => name),
    additionalProperties: false,
  }
}

const prefix = '#/components/schemas/'

/** Makes a schema self-contained: adds all types that it refers to, also indirectly, to its `$defs`. */
function withDefinitions(schema: Schema, components: Readonly<Record<string, Schema>>): Schema {
  const referenced = new Set<string>()
  const root = withLocalRefs(schema, referenced) as Schema
  const definitions: Record<string, unknown> = {}
  // The set grows during the iteration.
  for (const name of referenced) definitions[name] = withLocalRefs(components[name] ?? {}, referenced)
  return referenced.size === 0 ? root : {...root, $defs: definitions}
}

/** Points each `$ref` to `$defs`. @param referenced collects the names of the referenced types */
function withLocalRefs(value: unknown, referenced: Set<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => withLocalRefs(item, referenced))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value as Schema).filter(([name]) => name !== 'discriminator')
  return Object.fromEntries(
    members.map(([name, member]) => {
      if (name !== '$ref' || typeof member !== 'string') return [name, withLocalRefs(member, referenced)]
      const target = member.slice(prefix.length)
      referenced.add(target)
      return [name, `#/$defs/${target}`]
    }),
  )
}
