import {once} from 'node:events'
import type {ServerResponse} from 'node:http'
import type {FastifyReply} from 'fastify'

/** Streamed response. */
export interface ReplyStream {
  /** Sends a value. Resolves when the client accepts more data or has disconnected. */
  write(value: unknown): Promise<void>
  /** Sends an invisible keep-alive, if the format supports it. */
  ping(): void
  end(): void
  /** Aborts when the client disconnects. */
  readonly gone: AbortSignal
}

/** Newline-delimited JSON: one value per line. */
export const ndjsonStream = (reply: FastifyReply): ReplyStream =>
  open(reply, 'application/x-ndjson', (value) => `${JSON.stringify(value)}\n`, '')

/** Server-sent events: one `data:` field per value. Strings are sent unchanged, to permit `[DONE]`. */
export const sseStream = (reply: FastifyReply): ReplyStream =>
  open(
    reply,
    'text/event-stream',
    (value) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`,
    ': ping\n\n',
  )

/**
 * Server-sent events whose names are the types of the values. Strings are sent unchanged, without a name.
 * @param ping keep-alive; default: a comment
 */
export const typedEventStream = (reply: FastifyReply, ping = ': ping\n\n'): ReplyStream =>
  open(
    reply,
    'text/event-stream',
    (value) =>
      typeof value === 'string'
        ? `data: ${value}\n\n`
        : `event: ${(value as {type: string}).type}\ndata: ${JSON.stringify(value)}\n\n`,
    ping,
  )

/** Server-sent events with names and ids. Accepts buffers with one or more frames of `sseFrame`. */
export const eventStream = (reply: FastifyReply): ReplyStream =>
  open(reply, 'text/event-stream', (frames) => frames as Buffer, ': ping\n\n')

/** Formats a server-sent event with JSON data. */
export const sseFrame = ({id, event, data}: {id: number | string; event: string; data: unknown}): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`

function open(
  reply: FastifyReply,
  contentType: string,
  frame: (value: unknown) => string | Buffer,
  keepAlive: string,
): ReplyStream {
  reply.hijack()
  const {raw} = reply
  const gone = new AbortController()
  if (raw.destroyed) gone.abort()
  raw.on('close', () => {
    if (!raw.writableFinished) gone.abort()
  })
  raw.on('error', () => gone.abort())
  raw.writeHead(reply.statusCode, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': contentType,
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  })
  return {
    gone: gone.signal,
    async write(value) {
      if (gone.signal.aborted || raw.writableEnded) return
      if (!raw.write(frame(value))) await drained(raw, gone.signal)
    },
    ping() {
      if (keepAlive !== '' && !gone.signal.aborted && !raw.writableEnded) raw.write(keepAlive)
    },
    end: () => raw.end(),
  }
}

async function drained(raw: ServerResponse, signal: AbortSignal): Promise<void> {
  await once(raw, 'drain', {signal}).catch((error: Error) => {
    if (error.name !== 'AbortError') throw error
  })
}
