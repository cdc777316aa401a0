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
  headers?: Readonly<Record<string, string>> | undefined
}

export interface DirectRoute {
  /** The names of the parameters in its query string. */
  names: readonly string[]
  answer(request: DirectRequest): DirectAnswer | Promise<DirectAnswer>
}

/**
 * Routes that are called without the framework, which costs more than a small query. They get only requests that need
 * nothing of it: a known path without placeholders, and a small JSON body or none. Others take the usual way.
 */
export interface DirectRoutes {
  /** By method, then by path. */
  routes: Readonly<Record<'GET' | 'POST', ReadonlyMap<string, DirectRoute>>>
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

/** The characters that make a query string more than a parameter with plain text. */
const special = /[&%+]/

/**
 * Parses a query string, for the framework, too. Most have one parameter, for which the parser of Node.js is slow.
 * `known`: names that the text may have, because a part of it is slow as the name of a property.
 */
export function parseQuery(text: string, known: readonly string[] = []): ParsedUrlQuery {
  const mark = text.indexOf('=')
  if (mark < 1 || special.test(text) || text.includes('=', mark + 1)) return parse(text, '&', '=', {maxKeys: 0})
  // An object of the parser, because one without a prototype is slow.
  const query = parse('')
  const name = known.find((each) => each.length === mark && text.startsWith(each))
  query[name ?? text.slice(0, mark)] = text.slice(mark + 1)
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
      const query = url.length === path.length ? noQuery : parseQuery(url.slice(path.length + 1), route.names)
      const answer = route.answer({id, query, body: body === undefined ? undefined : textOf(body)})
      if (answer instanceof Promise) answer.then((settled) => write(response, id, settled)).catch(fail)
      else write(response, id, answer)
    } catch (thrown) {
      fail(thrown)
    }
  }

  const common = Object.entries(options.headers).flat()
  const commonOfJson = [...common, 'content-type', 'application/json; charset=utf-8']

  function write(response: ServerResponse, id: string, {status, body, headers}: DirectAnswer): void {
    const isJson = body !== undefined && headers?.['content-type'] === undefined
    const fields: OutgoingHttpHeader[] = ['x-request-id', id, ...(isJson ? commonOfJson : common)]
    if (headers !== undefined) fields.push(...Object.entries(headers).flat())
    if (body === undefined) response.writeHead(status, fields).end()
    else {
      const length = Buffer.byteLength(body)
      fields.push('content-length', length)
      // Text of one byte per character is ASCII, which is faster to write as Latin-1.
      response.writeHead(status, fields).end(body, length === body.length ? 'latin1' : 'utf8')
    }
  }

  return (raw, response) => {
    const {method, url = '', headers} = raw
    const mark = url.indexOf('?')
    const path = mark === -1 ? url : url.slice(0, mark)
    const route = method === 'GET' || method === 'POST' ? routes[method].get(path) : undefined
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
