import type {Schema} from '../../contracts/index.js'
import {openapi, type Program, type Route} from '../../lang/index.js'

/** What an endpoint takes and gives. Types of the program that they refer to are definitions of each. */
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
    if (found === undefined) throw new TypeError(`no document of ${method} ${path}`)
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

/** A schema that stands alone: what it refers to, and what that refers to, is among its own definitions. */
function withDefinitions(schema: Schema, components: Readonly<Record<string, Schema>>): Schema {
  const wanted = new Set<string>()
  const whole = standingAlone(schema, wanted) as Schema
  const definitions: Record<string, unknown> = {}
  // The set grows while it is walked through.
  for (const name of wanted) definitions[name] = standingAlone(components[name] ?? {}, wanted)
  return wanted.size === 0 ? whole : {...whole, $defs: definitions}
}

/** @param wanted gets the names of what is referred to */
function standingAlone(value: unknown, wanted: Set<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => standingAlone(item, wanted))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value as Schema).filter(([name]) => name !== 'discriminator')
  return Object.fromEntries(
    members.map(([name, member]) => {
      if (name !== '$ref' || typeof member !== 'string') return [name, standingAlone(member, wanted)]
      const target = member.slice(prefix.length)
      wanted.add(target)
      return [name, `#/$defs/${target}`]
    }),
  )
}
