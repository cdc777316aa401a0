import type {IncomingMessage, ServerResponse} from 'node:http'
import {Readable} from 'node:stream'
import {pipeline} from 'node:stream/promises'
import type {ReadableStream} from 'node:stream/web'

const types = ['application/json', 'text/event-stream'] as const

/** True if the client accepts both types. The library wants their names, but curl sends the range for any type. */
function acceptsBoth(accept = '*/*'): boolean {
  const ranges = accept.split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase())
  return types.every((type) => [type, `${type.split('/', 1)[0]}/*`, '*/*'].some((range) => ranges.includes(range)))
}

/** The request as the MCP library reads it, without its body. @param signal aborts when the client disconnects */
export function webRequest({method = 'GET', url = '/', headers}: IncomingMessage, signal: AbortSignal): Request {
  const single = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  const sent = new Headers(single)
  if (acceptsBoth(headers.accept)) sent.set('accept', types.join(', '))
  return new Request(new URL(url, 'http://localhost'), {method, headers: sent, signal})
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

/** A response to a batch with more answers. An error response is about the whole batch. */
export function withMessages(response: Response, messages: readonly object[]): Response {
  if (messages.length === 0 || !response.ok) return response
  if (response.body === null) return Response.json(messages)
  const events = messages.map((message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`).join('')
  const first = new TransformStream<Uint8Array, Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(events)),
  })
  return new Response(response.body.pipeThrough(first), response)
}
