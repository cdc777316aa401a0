import {once} from 'node:events'
import {createServer, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {text} from 'node:stream/consumers'
import {createMeshClient, type MeshClient, type MeshClientOptions} from '../../../../src/mesh/index.js'

/** Received request. */
export interface Asked {
  method: string
  /** `POST /v1/mesh/join` */
  route: string
  query: string
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** Parsed body, if any. */
  body: unknown
  /** Monotonic time of arrival, ms. */
  atMs: number
}

/** Responds to the `count`-th request. */
export type Script = (response: ServerResponse, asked: Asked, count: number) => unknown

/** Starts a server that runs a script and records the requests. */
export interface ScriptedControlPlane {
  readonly url: string
  /** In order. */
  readonly asked: Asked[]
  /** Client of this server, closed when the test ends. */
  connect(options?: Partial<MeshClientOptions>): MeshClient
}

export async function scriptedControlPlane(
  test: {after(work: () => unknown): void},
  script: Script,
): Promise<ScriptedControlPlane> {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    const atMs = performance.now()
    const {method = '', url = '', headers} = request
    const body = await text(request)
    const [path = '', query = ''] = url.split('?')
    const one: Asked = {
      method,
      route: `${method} ${path}`,
      query,
      headers,
      body: body === '' ? undefined : JSON.parse(body),
      atMs,
    }
    asked.push(one)
    script(response, one, asked.length)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clients: MeshClient[] = []
  test.after(async () => {
    await Promise.all(clients.map((client) => client.close()))
    server.closeAllConnections()
    server.close()
  })
  return {
    url,
    asked,
    connect(options = {}) {
      const client = createMeshClient({baseUrl: url, tokens: {}, ...options})
      clients.push(client)
      return client
    },
  }
}

/** Responds with JSON, or without a body. */
export const reply = (response: ServerResponse, status: number, body?: object, headers: Record<string, string> = {}) =>
  response.writeHead(status, headers).end(body === undefined ? '' : JSON.stringify(body))

/** Responds with problem details. */
export const problem = (
  response: ServerResponse,
  status: number,
  code: string,
  {detail = 'it will not', headers = {}}: {detail?: string; headers?: Record<string, string>} = {},
) =>
  reply(
    response,
    status,
    {type: 'about:blank', title: 'No', status, code, detail},
    {'content-type': 'application/problem+json', ...headers},
  )
