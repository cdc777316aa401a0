import {pipeline} from 'node:stream'
import {createGunzip} from 'node:zlib'
import type {Agent, Dispatcher} from 'undici'
import {SvcError} from '../../errors/index.js'
import {connectionFault, trustOptions} from '../../net/index.js'
import {forwardAbort} from '../../process/index.js'

export interface Outgoing {
  method: 'GET' | 'POST' | 'PUT'
  url: string
  headers: Record<string, string>
  body: string | Uint8Array | undefined
  /** Timeout of the complete exchange, ms. */
  timeoutMs: number
  signal: AbortSignal | undefined
}

export interface Answer {
  status: number
  /** First value of each header. */
  headers: Readonly<Record<string, string | undefined>>
  bytes: Buffer
}

/** Exchange without a complete response. */
export class ExchangeError extends Error {
  override readonly cause: SvcError
  /** Status of the response, if one had started. */
  readonly status: number | undefined
  /** Code of the network error; empty for other errors. */
  readonly code: string

  constructor(cause: SvcError, {status, code}: {status: number | undefined; code: string}) {
    super(cause.message)
    this.cause = cause
    this.status = status
    this.code = code
  }
}

/** Sends requests over persistent connections. */
export interface Transport {
  /** @throws ExchangeError; the reason of the signal */
  exchange(outgoing: Outgoing): Promise<Answer>
  close(): Promise<void>
}

/** Maximum number of bytes read of an error response. */
const maxErrorBytes = 64 << 10
const maxConnectMs = 15_000

/**
 * Creates a transport on undici, which is loaded on the first request. Redirects are not followed, because they would
 * send the token to another address.
 * @param maxAnswerBytes maximum size of a response
 */
export function createTransport(maxAnswerBytes: number): Transport {
  let loading: Promise<{agent: Agent; send: typeof import('undici').request}> | undefined
  const load = async () => {
    const {Agent, request} = await import('undici')
    // The exchange has its own timeout; this one closes connection attempts that no exchange waits for any more.
    const connect = {timeout: maxConnectMs, ...trustOptions()}
    const agent = new Agent({connect, headersTimeout: 0, bodyTimeout: 0})
    return {agent, send: request}
  }

  return {
    async exchange({url, timeoutMs, signal, body, ...request}) {
      signal?.throwIfAborted()
      loading ??= load()
      const {agent: dispatcher, send} = await loading
      const limit = new AbortController()
      const isTooLate = () => limit.signal.reason === tooLate
      const timer = setTimeout(() => limit.abort(tooLate), timeoutMs)
      const stopListening = forwardAbort(signal, limit)
      let answered: Dispatcher.ResponseData | undefined
      try {
        signal?.throwIfAborted()
        answered = await send(url, {dispatcher, ...request, body: body ?? null, signal: limit.signal})
        const bytes = await read(answered, {limit: maxAnswerBytes, url, signal})
        return {status: answered.statusCode, headers: firstOf(answered.headers), bytes}
      } catch (error) {
        signal?.throwIfAborted()
        const status = answered?.statusCode
        if (isTooLate())
          throw new ExchangeError(new SvcError('timeout', {url, ms: Math.round(timeoutMs)}), {
            status,
            code: 'ETIMEDOUT',
          })
        throw exchangeErrorOf(error, url, status)
      } finally {
        clearTimeout(timer)
        stopListening()
      }
    },
    async close() {
      const {agent} = (await loading) ?? {}
      if (agent !== undefined && !agent.destroyed) await agent.destroy()
    },
  }
}

const tooLate = new Error('too late')

const firstOf = (headers: Dispatcher.ResponseData['headers']) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()[0]]))

interface Reading {
  /** Bytes. */
  limit: number
  url: string
  signal: AbortSignal | undefined
}

/**
 * Reads a response body, and decompresses it. For an error status, an incomplete body is returned as it is, because the status is
 * sufficient.
 * @throws response_too_large
 */
async function read(
  {statusCode, headers, body}: Dispatcher.ResponseData,
  {limit, url, signal}: Reading,
): Promise<Buffer> {
  const isRefusal = statusCode >= 300
  const pieces: Buffer[] = []
  let length = 0
  try {
    // The end of either stream ends the other one, and the iteration throws its error.
    const plain = headers['content-encoding'] === 'gzip' ? pipeline(body, createGunzip(), () => undefined) : body
    for await (const piece of plain as AsyncIterable<Buffer>) {
      length += piece.length
      pieces.push(piece)
      // Leaving the loop closes the connection.
      if (isRefusal && length >= maxErrorBytes) break
      if (!isRefusal && length > limit) throw new SvcError('response_too_large', {url, limit})
    }
  } catch (error) {
    if (!isRefusal || signal?.aborted) throw error
  }
  return Buffer.concat(pieces)
}

function exchangeErrorOf(error: unknown, url: string, status: number | undefined): ExchangeError {
  if (error instanceof SvcError) return new ExchangeError(error, {status, code: ''})
  const {code = ''} = error as NodeJS.ErrnoException
  return new ExchangeError(connectionFault(url, error), {status, code})
}
