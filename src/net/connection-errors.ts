import {randomUUID} from 'node:crypto'
import {maxHeaderSize, type ServerResponse, STATUS_CODES} from 'node:http'
import type {Socket} from 'node:net'
import type {Duplex} from 'node:stream'
import {type ErrorRenderer, SvcError} from '../errors/index.js'

interface Answering {
  /** Returns the error renderer for a path. */
  renderer(path: string): ErrorRenderer
  /** Headers of every response. */
  headers: Readonly<Record<string, string>>
}

/** An error of the HTTP parser of Node.js, with the bytes that it was reading. */
type ParserError = Error & {code?: string; reason?: string; rawPacket?: unknown}

/**
 * Answers a request that Node.js rejects before the app sees it, with the errors of the app. Such a request is not
 * HTTP, has too long a head, or does not arrive in time. Closes the connection.
 */
export function answerParserError(error: ParserError, socket: Socket, answering: Answering): void {
  const fault = faultOf(error)
  const {_httpMessage: response} = socket as {_httpMessage?: ServerResponse | null}
  // An error must not be within a response, such as a stream, nor taken for that of an earlier request.
  const isOther = response !== undefined && response !== null && (response.headersSent || response.req.complete)
  if (fault === undefined || isOther) socket.destroy()
  else answer(socket, fault, pathOf(error), answering)
}

/** Refuses a request to connect to another server, which Node.js would not answer. */
export const refuseConnect = (socket: Duplex, answering: Answering): void =>
  answer(socket, new SvcError('bad_request', {reason: 'this server is not a proxy'}), '/', answering)

function answer(socket: Duplex, fault: SvcError, path: string, {renderer, headers}: Answering): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const id = randomUUID()
  const body = renderer(path)(fault, id)
  const text = JSON.stringify(body)
  const fields = {
    ...headers,
    'x-request-id': id,
    'content-type': contentTypeOf(body),
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  const {status} = fault
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${text}`, () => socket.destroy())
}

/** The content type of the body of an error. */
export const contentTypeOf = (body: object): string =>
  'status' in body ? 'application/problem+json' : 'application/json; charset=utf-8'

/** Undefined for errors of the connection, which cannot be answered. */
function faultOf({code = '', reason, message}: ParserError): SvcError | undefined {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new SvcError('request_timeout', {})
  if (code === 'HPE_HEADER_OVERFLOW') return new SvcError('headers_too_large', {limit: maxHeaderSize})
  if (!code.startsWith('HPE_')) return undefined
  return new SvcError('bad_request', {reason: `the request is not valid HTTP: ${reason ?? message}`})
}

/** The path of a request if it is in the last packet. */
function pathOf({rawPacket}: ParserError): string {
  const [, path = '/'] = /^[A-Z]+ (\/[^? ]*)/.exec(String(rawPacket)) ?? []
  return path
}
