import type {FastifyReply} from 'fastify'
import {SvcError} from '../errors/index.js'

/** Aborts when the client disconnects before the response is complete. */
export function clientGone({raw}: FastifyReply): AbortSignal {
  const gone = new AbortController()
  const abort = () => gone.abort(new SvcError('interrupted', {}))
  if (raw.destroyed) abort()
  raw.once('close', () => {
    if (!raw.writableFinished) abort()
  })
  return gone.signal
}
