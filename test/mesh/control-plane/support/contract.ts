import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import type {IncomingHttpHeaders} from 'node:http'
import {compileComponents, findContract, readDocument} from '../../../../src/contracts/index.js'
import {type Answer, type Asked, ask} from './ask.js'

interface Ref {
  $ref: string
}

interface Content {
  [mediaType: string]: {schema: Ref}
}

interface Response {
  headers?: Record<string, Ref>
  content?: Content
}

export interface Operation {
  operationId: string
  security?: unknown[]
  requestBody?: {content: Content}
  responses: Record<string, Response | Ref>
}

interface Schema {
  allOf?: Ref[]
  properties?: Record<string, Schema>
  enum?: string[]
}

export interface Document {
  paths: Record<string, Record<string, Operation>>
  components: Record<'schemas' | 'headers' | 'responses' | 'parameters', Record<string, object>>
}

const contract = await findContract('mesh/control-plane.openapi')
const schemas = await compileComponents(contract)

/** The contract of the control plane. */
export const document = (await readDocument(await readFile(contract.file, 'utf8'), contract.file)) as Document

const methods = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options']

/** Every operation that is documented, with its place. */
export const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([method]) => methods.includes(method))
    .map(([method, operation]) => ({method: method.toUpperCase(), path, operation})),
)

export const isRef = (node: object): node is Ref => '$ref' in node

/** What a reference stands for; undefined where nothing is there. */
export const lookUp = ({$ref}: Ref): unknown =>
  $ref
    .slice(2)
    .split('/')
    .reduce((node: unknown, part) => (node as Record<string, unknown> | undefined)?.[part], document)

const follow = (node: Response | Ref) => (isRef(node) ? (lookUp(node) as Response) : node)

/** What is wrong with a value, by the schema of this name. */
export function violations(name: string, value: unknown): string {
  const validate = schemas.get(name)
  assert.ok(validate, `there is no schema ${name}`)
  return validate(value) ? '' : `${JSON.stringify(validate.errors)} of ${JSON.stringify(value)}`
}

export const schemaName = ({schema}: {schema: Ref}) => schema.$ref.split('/').at(-1) as string

/** Holds headers to their schemas, too. */
function assertHeaders(response: Response, headers: IncomingHttpHeaders): void {
  for (const [name, ref] of Object.entries(response.headers ?? {})) {
    const {schema} = lookUp(ref) as {schema: Ref}
    assert.equal(violations(schemaName({schema}), headers[name]), '', `the header ${name}`)
  }
}

export function assertFits(response: Response, method: string, {status, headers, text, body}: Answer): void {
  assertHeaders(response, headers)
  if (method === 'HEAD' || status === 204) {
    assert.equal(text, '')
    return
  }
  const mediaType = headers['content-type']?.split(';')[0] ?? ''
  const documented = response.content?.[mediaType]
  assert.ok(documented, `the content type ${mediaType} is documented`)
  assert.equal(violations(schemaName(documented), mediaType === 'text/plain' ? text : body), '')
}

/** Holds an answer to a response that belongs to no operation. */
export const assertFitsResponse = (name: string, method: string, answer: Answer) =>
  assertFits(document.components.responses[name] as Response, method, answer)

/** The codes of problems that a response documents; none where it tells of success, or has no body. */
function codesOf(response: Response): string[] {
  const documented = response.content?.['application/problem+json']
  return documented === undefined ? [] : ((lookUp(documented.schema) as Schema).properties?.code?.enum ?? [])
}

/** `POST /v1/mesh/join 409 duplicate_node_id`, for every answer that is documented. */
export const documented: readonly string[] = operations.flatMap(({method, path, operation}) =>
  Object.entries(operation.responses).flatMap(([status, response]) => {
    const codes = method === 'HEAD' ? [] : codesOf(follow(response))
    const answer = `${method} ${path} ${status}`
    return codes.length === 0 ? [answer] : codes.map((code) => `${answer} ${code}`)
  }),
)

/** Answers that were given, in the same words. */
export const seen = new Set<string>()

/** Asks for an operation: whatever the answer is, it is one of those documented, and of that form. */
export async function askDocumented(
  server: {baseUrl: string},
  method: string,
  path: string,
  asked: Asked = {},
): Promise<Answer> {
  const operation = document.paths[path]?.[method.toLowerCase()]
  assert.ok(operation, `${method} ${path} is documented`)
  const answer = await ask(server, method, path, asked)
  const response = operation.responses[answer.status]
  assert.ok(response, `${method} ${path} answers ${answer.status}, which is not documented: ${answer.text}`)
  assertFits(follow(response), method, answer)
  const isRefused = answer.status >= 400 && method !== 'HEAD'
  seen.add(`${method} ${path} ${answer.status}${isRefused ? ` ${answer.body.code}` : ''}`)
  return answer
}

/** Sends a body that the contract allows. */
export async function post(server: {baseUrl: string}, path: string, body: object, asked: Asked = {}): Promise<Answer> {
  const content = document.paths[path]?.post?.requestBody?.content['application/json']
  assert.ok(content, `${path} takes a body`)
  assert.equal(violations(schemaName(content), body), '')
  return askDocumented(server, 'POST', path, {...asked, body})
}
