import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import type {IncomingHttpHeaders} from 'node:http'
import {compileComponents, findContract, readDocument} from '../../src/contracts/index.js'

interface Ref {
  $ref: string
}

interface Content {
  [mediaType: string]: {schema: Ref}
}

export interface Response {
  headers?: Record<string, Ref>
  content?: Content
}

interface Operation {
  operationId: string
  security?: unknown[]
  requestBody?: {content: Content}
  responses: Record<string, Response | Ref>
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: Record<'schemas' | 'headers' | 'responses' | 'parameters', Record<string, object>>
}

/** The documented parts of a received response. */
export interface Received {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

/** An OpenAPI document of the contracts, with functions that check responses against it. */
export interface OpenApiContract {
  readonly document: Document
  /** All documented operations with method and path. */
  readonly operations: readonly {method: string; path: string; operation: Operation}[]
  /** The target of a reference; undefined if it does not exist. */
  lookUp(ref: Ref): unknown
  /** Resolves a response that may be a reference. */
  follow(response: Response | Ref): Response
  /** Violations of the schema with this name; empty if there are none. */
  violations(name: string, value: unknown): string
  /** Name of the schema of the JSON body of an operation. */
  bodySchema(path: string): string
  /** Asserts that a response matches the shared response with this name, which belongs to no operation. */
  assertResponse(name: string, method: string, received: Received): void
  /** Asserts that a response is documented for an operation. */
  assertDocumented(method: string, path: string, received: Received): void
  /** Calls `see` for every object or array below a node. */
  visit(node: unknown, see: (key: string, value: object) => void): void
  /** Dangling references, and unused components. */
  looseEnds(): {broken: string[]; unused: string[]}
}

const methods = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options']
const componentKinds = ['schemas', 'headers', 'responses', 'parameters'] as const

const isRef = (node: object): node is Ref => '$ref' in node

const schemaName = ({schema}: {schema: Ref}): string => schema.$ref.split('/').at(-1) as string

export async function openContract(name: string): Promise<OpenApiContract> {
  const contract = await findContract(name)
  const schemas = await compileComponents(contract)
  const document = (await readDocument(await readFile(contract.file, 'utf8'), contract.file)) as Document

  const lookUp = ({$ref}: Ref): unknown =>
    $ref
      .slice(2)
      .split('/')
      .reduce((node: unknown, part) => (node as Record<string, unknown> | undefined)?.[part], document)

  const follow = (response: Response | Ref) => (isRef(response) ? (lookUp(response) as Response) : response)

  function violations(schema: string, value: unknown): string {
    const validate = schemas.get(schema)
    assert.ok(validate, `there is no schema ${schema}`)
    return validate(value) ? '' : `${JSON.stringify(validate.errors)} of ${JSON.stringify(value)}`
  }

  function assertFits(response: Response, method: string, {status, headers, text}: Received): void {
    for (const [header, ref] of Object.entries(response.headers ?? {})) {
      const {required = false, schema: of} = lookUp(ref) as {required?: boolean; schema: Ref}
      const schema = schemaName({schema: of})
      const value = headers[header]
      if (value === undefined && !required) continue
      // A header is a string, even if its schema describes a number.
      const fault = violations(schema, value) && violations(schema, value === undefined ? value : Number(value))
      assert.equal(fault, '', `the header ${header}`)
    }
    if (method === 'HEAD' || status === 204 || status === 304 || response.content === undefined) {
      assert.equal(text, '')
      return
    }
    const mediaType = headers['content-type']?.split(';')[0] ?? ''
    const documented = response.content?.[mediaType]
    assert.ok(documented, `the content type ${mediaType} is documented`)
    for (const value of valuesIn(mediaType, text)) assert.equal(violations(schemaName(documented), value), '')
  }

  return {
    document,
    operations: Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([method]) => methods.includes(method))
        .map(([method, operation]) => ({method: method.toUpperCase(), path, operation})),
    ),
    lookUp,
    follow,
    violations,
    bodySchema(path) {
      const content = document.paths[path]?.post?.requestBody?.content['application/json']
      assert.ok(content, `${path} takes a body`)
      return schemaName(content)
    },
    assertResponse: (name, method, received) =>
      assertFits(document.components.responses[name] as Response, method, received),
    assertDocumented(method, path, received) {
      const operation = document.paths[path]?.[method.toLowerCase()]
      assert.ok(operation, `${method} ${path} is documented`)
      const {status, text} = received
      const response = operation.responses[status]
      assert.ok(response, `${method} ${path} answers ${status}, which is not documented: ${text}`)
      assertFits(follow(response), method, received)
    },
    visit,
    looseEnds() {
      const refs = new Set<string>()
      visit({document}, (_, value) => {
        if (isRef(value)) refs.add(value.$ref)
      })
      const parts = componentKinds.flatMap((kind) =>
        Object.keys(document.components[kind] ?? {}).map((part) => `#/components/${kind}/${part}`),
      )
      return {
        broken: [...refs].filter(($ref) => lookUp({$ref}) === undefined),
        unused: parts.filter((part) => !refs.has(part)),
      }
    },
  }
}

function visit(node: unknown, see: (key: string, value: object) => void): void {
  if (typeof node !== 'object' || node === null) return
  for (const [key, value] of Object.entries(node)) {
    if (typeof value === 'object' && value !== null) see(key, value)
    visit(value, see)
  }
}

/** The values in a body of a media type. */
function valuesIn(mediaType: string, body: string): unknown[] {
  const whole = ['text/plain', 'text/html', 'text/vtt', 'application/x-subrip', 'application/octet-stream']
  if (whole.includes(mediaType)) return [body]
  if (/[/+]json$/.test(mediaType)) return [JSON.parse(body)]
  const isLines = mediaType === 'application/x-ndjson'
  const end = isLines ? '\n' : '\n\n'
  assert.ok(body.endsWith(end), 'a stream ends with a whole object')
  const pieces = body.slice(0, -end.length).split(end)
  const data = isLines ? pieces : pieces.map(dataOf)
  // A stream of typed events ends with one whose type says so.
  if (!isLines && !/"type":"([\w.]+\.done|message_stop)"/.test(data.at(-1) ?? '')) assert.equal(data.pop(), '[DONE]')
  return data.map((piece) => JSON.parse(piece))
}

/** The data of a server-sent event. Its name, if it has one, is the type of the data. */
function dataOf(piece: string): string {
  const [, name, data = ''] = /^(?:event: (.+)\n)?data: (.+)$/.exec(piece) ?? []
  assert.notEqual(data, '', piece)
  if (name !== undefined) assert.equal(JSON.parse(data).type, name)
  return data
}
