/** Prefix of the metadata of the protocol. */
export const prefix = 'io.modelcontextprotocol'
export const newest = '2026-07-28'

/** Metadata of a request of the newest revision. */
export const envelope = (more: object = {}) => ({
  [`${prefix}/protocolVersion`]: newest,
  [`${prefix}/clientInfo`]: {name: 'test', version: '1'},
  [`${prefix}/clientCapabilities`]: {},
  ...more,
})

export interface Sent {
  params?: Readonly<Record<string, unknown>>
  meta?: object
  headers?: Readonly<Record<string, string>>
}

interface Body {
  result?: Readonly<Record<string, unknown>>
  error?: {code: number; message: string; data?: Readonly<Record<string, unknown>>}
}

/** A request of the newest revision over HTTP. */
export function modernRequest(
  url: URL | string,
  method: string,
  {params = {}, meta = envelope(), headers = {}}: Sent = {},
) {
  const name = params.name ?? params.taskId
  const body = {jsonrpc: '2.0', id: 1, method, params: {...params, _meta: meta}}
  const request = new Request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': newest,
      'mcp-method': method,
      ...(typeof name === 'string' ? {'mcp-name': name} : {}),
      ...headers,
    },
    body: JSON.stringify(body),
  })
  return {request, body}
}

export async function sendModern(url: URL, method: string, sent: Sent = {}) {
  const response = await fetch(modernRequest(url, method, sent).request)
  return {status: response.status, headers: response.headers, body: (await response.json()) as Body}
}
