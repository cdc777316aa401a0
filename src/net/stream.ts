import {once} from 'node:events'
import type {ServerResponse} from 'node:http'
import type {FastifyReply} from 'fastify'

/** A reply that is written piece by piece. */
export interface ReplyStream {
  /** Sends one value; resolves when the client has room for more, at once when it has gone. */
  write(value: unknown): Promise<void>
  /** Sends nothing that a reader sees, so that a connection which is silent for long stays open. */
  ping(): void
  end(): void
  /** Aborts when the client has gone. */
  readonly gone: AbortSignal
}

/** Newline-delimited JSON: one value per line. */
export const ndjsonStream = (reply: FastifyReply): ReplyStream =>
  open(reply, 'application/x-ndjson', (value) => `${JSON.stringify(value)}\n`, '')

/** Server-sent events: one `data:` field per value; a string goes out as it is, so that `[DONE]` can be sent. */
export const sseStream = (reply: FastifyReply): ReplyStream =>
  open(
    reply,
    'text/event-stream',
    (value) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`,
    ': ping\n\n',
  )

/** Server-sent events with names and ids: takes the bytes of frames that `sseFrame` made, one or more at a time. */
export const eventStream = (reply: FastifyReply): ReplyStream =>
  open(reply, 'text/event-stream', (frames) => frames as Buffer, ': ping\n\n')

/** One server-sent event whose data is JSON. */
export const sseFrame = ({id, event, data}: {id: number; event: string; data: unknown}): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`

function open(
  reply: FastifyReply,
  contentType: string,
  frame: (value: unknown) => string | Buffer,
  silence: string,
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
      if (silence !== '' && !gone.signal.aborted && !raw.writableEnded) raw.write(silence)
    },
    end: () => raw.end(),
  }
}

async function drained(raw: ServerResponse, signal: AbortSignal): Promise<void> {
  await once(raw, 'drain', {signal}).catch((error: Error) => {
    if (error.name !== 'AbortError') throw error
  })
}
