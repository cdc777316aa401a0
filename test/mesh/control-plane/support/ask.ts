import {type IncomingHttpHeaders, type IncomingMessage, request} from 'node:http'
import {text} from 'node:stream/consumers'

export interface Asked {
  token?: string | undefined
  headers?: Record<string, string>
  /** Query string, such as `limit=2`. */
  query?: string
  /** A string or buffer is sent unchanged. */
  body?: object | string | Buffer
  /** Content-Length of a body that is not sent. */
  length?: number
}

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests check arbitrary bodies
  body: any
}

/** Sends a request on a new connection with arbitrary headers. */
export function ask({baseUrl}: {baseUrl: string}, method: string, path: string, asked: Asked = {}): Promise<Answer> {
  const {token, headers = {}, query, body, length} = asked
  return new Promise((resolve, reject) => {
    const read = (response: IncomingMessage) =>
      text(response).then((whole) => {
        const isJson = /json/.test(response.headers['content-type'] ?? '') && whole !== ''
        const {statusCode = 0, headers} = response
        resolve({status: statusCode, headers, text: whole, body: isJson ? JSON.parse(whole) : undefined})
        outgoing.destroy()
      }, reject)
    const sent = {
      ...(body === undefined && length === undefined ? {} : {'content-type': 'application/json'}),
      ...(token === undefined ? {} : {authorization: `Bearer ${token}`}),
      ...headers,
    }
    const url = `${baseUrl}${path}${query === undefined ? '' : `?${query}`}`
    const outgoing = request(url, {method, headers: sent, agent: false}, read).on('error', reject)
    const content = typeof body === 'object' && !Buffer.isBuffer(body) ? JSON.stringify(body) : (body ?? '')
    outgoing.setHeader('content-length', length ?? Buffer.byteLength(content))
    if (length === undefined) outgoing.end(content)
    else outgoing.flushHeaders()
  })
}
