import type {IncomingMessage, ServerResponse} from 'node:http'
import {Readable} from 'node:stream'
import {pipeline} from 'node:stream/promises'
import type {ReadableStream} from 'node:stream/web'

/** The request as the MCP library reads it, without its body. @param signal aborts when the client disconnects */
export function webRequest({method = 'GET', url = '/', headers}: IncomingMessage, signal: AbortSignal): Request {
  const single = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return new Request(new URL(url, 'http://localhost'), {method, headers: single, signal})
}

/** Resolves when the response has been sent or the client has disconnected. */
export const closeOf = (raw: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    if (raw.destroyed) resolve()
    raw.once('close', resolve)
  })

/** Sends a response, the head at once: a stream may have nothing to send for a long time. */
export async function sendResponse({status, headers, body}: Response, raw: ServerResponse): Promise<void> {
  raw.writeHead(status, Object.fromEntries(headers))
  raw.flushHeaders()
  // A client that disconnects ends the stream.
  if (body === null) raw.end()
  else await pipeline(Readable.fromWeb(body as ReadableStream), raw).catch(() => undefined)
}
