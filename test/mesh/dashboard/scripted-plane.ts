import {once} from 'node:events'
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {json, text} from 'node:stream/consumers'
import type {TestContext} from 'node:test'

interface Answer {
  status: number
  body?: unknown
}

/** Scripted control plane that records its requests. */
export interface ScriptedPlane {
  baseUrl: string
  /** Sets the response for a path, with or without query. */
  answers: Map<string, Answer>
  /** Bodies received at a path. */
  asked(path: string): unknown[]
  /** If true, connections are closed without a response. */
  isAway: boolean
}

const paths = {nodes: '/v1/mesh/nodes', leases: '/v1/mesh/exec/leases', queue: '/v1/mesh/queue/stats'}

export const node = (id: string, facts: object = {}) => ({
  id,
  version: '1.0.0',
  capabilities: {},
  last_seen_unix_ms: 5_000_000,
  ...facts,
})

export const nodesAnswer = (...nodes: object[]) => ({
  status: 200,
  body: {schema_version: 1, server_time_unix_ms: 5_000_000, nodes},
})

export async function scriptedPlane(test: Pick<TestContext, 'after'>): Promise<ScriptedPlane> {
  const requests: {path: string; body: unknown}[] = []
  const plane: ScriptedPlane = {
    baseUrl: '',
    answers: new Map<string, Answer>([
      [paths.nodes, nodesAnswer()],
      [paths.leases, {status: 200, body: {leases: []}}],
      [
        paths.queue,
        {status: 200, body: {pending_count: 0, pending_by_kind: {}, pending_by_priority: {}, dead_count: 0}},
      ],
      ['/v1/mesh/a2a/dead/retry', {status: 200, body: {message_ids: [7], not_found: []}}],
      ['/v1/mesh/a2a/dead/drop', {status: 200, body: {message_ids: [7], not_found: []}}],
    ]),
    asked: (path) => requests.filter((request) => request.path === path).map(({body}) => body),
    isAway: false,
  }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (plane.isAway) return request.socket.destroy()
    const {url = ''} = request
    const path = url.split('?')[0] ?? ''
    requests.push({path, body: request.method === 'POST' ? await json(request) : await text(request)})
    const {status, body} = plane.answers.get(url) ?? plane.answers.get(path) ?? {status: 204}
    const type = status < 400 ? 'application/json' : 'application/problem+json'
    response.writeHead(status, {'content-type': type}).end(body === undefined ? '' : JSON.stringify(body))
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.after(() => {
    server.close()
    server.closeAllConnections()
  })
  plane.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return plane
}
