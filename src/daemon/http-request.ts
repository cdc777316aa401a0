import type {Line} from './framing.js'

const requestLine = /^[A-Z]{2,16} \S+ HTTP\/\d/
const methodAndTarget = /^[A-Z]{2,16} \S/

/**
 * Whether the first line of a connection is that of an HTTP request. A page in a browser can send one to any port of
 * this machine, with lines of its own choice in the body; those must not be taken for requests.
 */
export const isHttp = (line: Line): boolean =>
  typeof line === 'string' ? requestLine.test(line) : methodAndTarget.test(line.head)

/** For the person who tried. */
export const httpRefusal =
  'HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\nThis is no HTTP server: send one JSON object per line.\n'
