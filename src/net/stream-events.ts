import type {FastifyRequest} from 'fastify'
import type {ReplyStream} from './stream.js'

/** Time to wait for the first event before the headers are sent, ms. Later errors are reported within the stream. */
const headerWaitMs = 1000
const pingMs = 10_000

/**
 * Streams a reply. The headers are sent with the first event, so that a rejected request gets an error status. If the
 * first event takes too long, the stream is opened without it and kept open with pings.
 *
 * @param write writes one event
 * @param failed writes an error that interrupts the reply
 */
export async function streamEvents<T>(
  events: AsyncGenerator<T, void, undefined>,
  open: () => ReplyStream,
  write: (stream: ReplyStream, event: T) => Promise<void>,
  failed: (stream: ReplyStream, error: unknown) => Promise<void>,
  request: FastifyRequest,
): Promise<void> {
  const first = events.next()
  first.catch(() => {})
  await Promise.race([first, new Promise((resolve) => setTimeout(resolve, headerWaitMs).unref())])
  const stream = open()
  const pings = setInterval(() => stream.ping(), pingMs)
  try {
    for (let next = await first; next.done !== true; next = await events.next()) await write(stream, next.value)
  } catch (error) {
    if (stream.gone.aborted) return
    request.log.warn({err: error, id: request.id}, 'A streamed reply failed.')
    await failed(stream, error)
  } finally {
    clearInterval(pings)
    await events.return()
    stream.end()
  }
}
