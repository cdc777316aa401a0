import type {IncomingMessage, OutgoingHttpHeader, ServerResponse} from 'node:http'
import {type ParsedUrlQuery, parse} from 'node:querystring'
import {textOf} from './request-body.js'

export interface DirectRequest {
  /** Request id. */
  id: string
  query: Readonly<Record<string, string | string[] | undefined>>
  body: string | undefined
}

export interface DirectAnswer {
  status: number
  /** JSON. */
  body?: string
  headers?: Readonly<Record<string, string>>
}

export type DirectRoute = (request: DirectRequest) => DirectAnswer | Promise<DirectAnswer>

/**
 * Routes that are called without the framework, which costs more than a small query. They get only requests that need
 * nothing of it: a known path without placeholders, and a small JSON body or none. Others take the usual way.
 */
export interface DirectRoutes {
  /** By method and path, such as `GET /api/query/list`. */
  routes: ReadonlyMap<string, DirectRoute>
  isAuthorized(authorization: string | undefined): boolean
}

export interface DirectOptions extends DirectRoutes {
  /** Maximum size of a body, bytes. */
  bodyLimit: number
  /** Headers of every response. */
  headers: Readonly<Record<string, string>>
  isKnownHost(host: string | undefined): boolean
  isClosing(): boolean
  idOf(request: IncomingMessage): string
  /** The answer for an exception. */
  failed(thrown: unknown, request: {id: string; path: string}): DirectAnswer
}

const jsonTypes = new Set(['application/json', 'application/json; charset=utf-8', 'application/json;charset=utf-8'])

const onlyPair = /^([\w.-]+)=([^&=%+]*)$/

/** Parses a query string, for the framework, too. Most have one parameter, for which the parser of Node.js is slow. */
export function parseQuery(text: string): ParsedUrlQuery {
  const [, name, value] = onlyPair.exec(text) ?? []
  if (name === undefined) return parse(text, '&', '=', {maxKeys: 0})
  const query: ParsedUrlQuery = Object.create(null)
  query[name] = value
  return query
}

const noQuery = parseQuery('')

/** Headers whose meaning is left to the framework. */
const left = ['transfer-encoding', 'content-encoding', 'expect', 'upgrade'] as const

/** Whether the query string of a URL, if any, can be decoded. */
export function hasDecodableQuery(url: string): boolean {
  const start = url.indexOf('?')
  if (start < 0 || url.indexOf('%', start) < 0) return true
  try {
    decodeURIComponent(url.slice(start))
    return true
  } catch {
    return false
  }
}

/** Returns a listener that handles a request, or returns false. */
export function directListener(
  options: DirectOptions,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const {routes, isAuthorized, bodyLimit, isKnownHost, isClosing} = options

  function call(route: DirectRoute, path: string, raw: IncomingMessage, response: ServerResponse, body?: Buffer): void {
    const {url = ''} = raw
    const id = options.idOf(raw)
    const fail = (thrown: unknown) => write(response, id, options.failed(thrown, {id, path}))
    try {
      const query = url.length === path.length ? noQuery : parseQuery(url.slice(path.length + 1))
      const answer = route({id, query, body: body === undefined ? undefined : textOf(body)})
      if (answer instanceof Promise) answer.then((settled) => write(response, id, settled)).catch(fail)
      else write(response, id, answer)
    } catch (thrown) {
      fail(thrown)
    }
  }

  const common = Object.entries(options.headers).flat()

  function write(response: ServerResponse, id: string, {status, body, headers}: DirectAnswer): void {
    const fields: OutgoingHttpHeader[] = ['x-request-id', id, ...common]
    if (headers !== undefined) fields.push(...Object.entries(headers).flat())
    if (body === undefined) response.writeHead(status, fields).end()
    else {
      if (headers?.['content-type'] === undefined) fields.push('content-type', 'application/json; charset=utf-8')
      fields.push('content-length', Buffer.byteLength(body))
      response.writeHead(status, fields).end(body)
    }
  }

  return (raw, response) => {
    const {method, url = '', headers} = raw
    const mark = url.indexOf('?')
    const path = mark === -1 ? url : url.slice(0, mark)
    const route = routes.get(`${method} ${path}`)
    if (route === undefined || url.includes('#') || isClosing()) return false
    if (!isKnownHost(headers.host) || !isAuthorized(headers.authorization)) return false
    if (left.some((name) => headers[name] !== undefined) || !hasDecodableQuery(url)) return false
    const length = Number(headers['content-length'] ?? 0)
    if (method === 'GET') {
      if (length > 0) return false
      call(route, path, raw, response)
      return true
    }
    if (length === 0 || length > bodyLimit || !jsonTypes.has(headers['content-type'] ?? '')) return false
    readBody(raw, (body) => call(route, path, raw, response, body))
    return true
  }
}

/** Reads a body whose length Node.js checks. Nothing follows if the client disconnects. */
function readBody(raw: IncomingMessage, handle: (body: Buffer) => void): void {
  const chunks: Buffer[] = []
  raw.on('data', (chunk: Buffer) => chunks.push(chunk))
  raw.on('error', () => undefined)
  raw.once('end', () => handle(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
}
