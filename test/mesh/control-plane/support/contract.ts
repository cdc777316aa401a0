import assert from 'node:assert/strict'
import {openContract, type Response} from '../../../support/openapi.js'
import {type Answer, type Asked, ask} from './ask.js'

interface Schema {
  properties?: Record<string, Schema>
  enum?: string[]
}

export const contract = await openContract('mesh/control-plane.openapi')
const {operations, lookUp, follow} = contract

/** Problem codes documented for a response. */
function codesOf(response: Response): string[] {
  const documented = response.content?.['application/problem+json']
  return documented === undefined ? [] : ((lookUp(documented.schema) as Schema).properties?.code?.enum ?? [])
}

/** All documented responses, such as `POST /v1/mesh/join 409 duplicate_node_id`. */
export const documented: readonly string[] = operations.flatMap(({method, path, operation}) =>
  Object.entries(operation.responses).flatMap(([status, response]) => {
    const codes = method === 'HEAD' ? [] : codesOf(follow(response))
    const answer = `${method} ${path} ${status}`
    return codes.length === 0 ? [answer] : codes.map((code) => `${answer} ${code}`)
  }),
)

/** Responses received so far, in the same format. */
export const seen = new Set<string>()

/** SHA-256 of an empty file, which is in the path of requests unless they name another. */
export const emptyFile = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** Sends a request and asserts that the response matches the contract. */
export async function askDocumented(
  server: {baseUrl: string},
  method: string,
  path: string,
  {sha256 = emptyFile, ...asked}: Asked & {sha256?: string} = {},
): Promise<Answer> {
  const answer = await ask(server, method, path.replace('{sha256}', sha256), asked)
  contract.assertDocumented(method, path, answer)
  const isRefused = answer.status >= 400 && method !== 'HEAD'
  seen.add(`${method} ${path} ${answer.status}${isRefused ? ` ${answer.body.code}` : ''}`)
  return answer
}

/** Sends a body after asserting that it matches the contract. */
export async function post(server: {baseUrl: string}, path: string, body: object, asked: Asked = {}): Promise<Answer> {
  assert.equal(contract.violations(contract.bodySchema(path), body), '')
  return askDocumented(server, 'POST', path, {...asked, body})
}
