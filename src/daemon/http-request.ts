import type {Line} from './framing.js'

const requestLine = /^[A-Z]{2,16} \S+ HTTP\/\d/
const methodAndTarget = /^[A-Z]{2,16} \S/

/**
 * Detects an HTTP request by the first line. A web page can send one to any local port, with arbitrary lines in its
 * body, which must not be executed as requests.
 */
export const isHttp = (line: Line): boolean =>
  typeof line === 'string' ? requestLine.test(line) : methodAndTarget.test(line.head)

export const httpRefusal =
  'HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\nThis is not an HTTP server. Send one JSON object per line.\n'
